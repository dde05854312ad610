/** More than any proxy opens, fewer than a process has file descriptors for. */
const MAX_CONNECTIONS = 2_048

/**
 * Callers whom the process has no time for yet: with Node's own 511, more of them at once than that are turned away by the
 * kernel after some seconds, without an answer. The kernel's own limit, net.core.somaxconn, goes before.
 */
export const backlog = MAX_CONNECTIONS

/** What one process takes from callers, so that none of them can take it from the others. */
export const httpLimits = {
  connections: MAX_CONNECTIONS,
  /** With more connections open than this, each answer closes its own: idle ones leave room for everybody else. */
  keptAlive: MAX_CONNECTIONS / 2,
  /** Callers who wait for the end of an operation at the same time; further ones get the record as it is. */
  waiting: MAX_CONNECTIONS / 4,
  /** Uploads, downloads and retries of whole files at the same time: each may take minutes, or hours. */
  longCalls: 64,
  /** JSON calls may have so much; a webhook or an upload more, which its route says. */
  bodyLimit: 256 * 1024,
  /** Longer path parameters than any of ours only cost the router time. */
  routerOptions: { maxParamLength: 512 },
  /** A caller that takes longer to send its request holds a connection for nothing. */
  requestTimeout: 30_000,
  http: {
    /** The request line and all headers together; Node's own default, said here so that it stays. */
    maxHeaderSize: 16 * 1024,
    /** Headers fit into a few packets: who takes longer does it on purpose. */
    headersTimeout: 10_000,
    /** How late the two time-outs may be. */
    connectionsCheckingInterval: 2_000,
  },
}
