/** More connections than any proxy opens, and fewer than a process has file descriptors for. */
const MAX_CONNECTIONS = 2_048

/** With Node's default of 511, the kernel silently drops connections in a burst. */
export const backlog = MAX_CONNECTIONS

export const httpLimits = {
  connections: MAX_CONNECTIONS,
  /** With more connections open than this, each answer closes its own, so that idle ones leave room for others. */
  keptAlive: MAX_CONNECTIONS / 2,
  /**
   * How many requests of one connection may be under way: load generators send some ten ahead, others none. Node
   * would answer all of them at once, and keep what is not read in memory.
   */
  pipelined: 16,
  /** An answer of which nothing is read for this long only takes the place of another. */
  unreadMs: 60_000,
  /** How many large bodies may arrive at a time where anybody may send one: each is in memory until it is complete. */
  largeBodies: 256,
  /** How many callers of `track` may wait for a result; the others are answered at once. */
  waiting: MAX_CONNECTIONS / 4,
  /**
   * How many uploads and retries of whole files may run, and how many downloads beside them: each may take minutes or
   * hours, and most of them only wait.
   */
  longCalls: 64,
  /** The limit for JSON calls; the routes of webhooks and uploads set larger ones. */
  bodyLimit: 256 * 1024,
  /**
   * A parameter may be as long as 200 characters of four bytes, percent-encoded; longer ones would only cost the
   * router time.
   */
  routerOptions: { maxParamLength: 2_400 },
  /** A caller that takes longer to send its request is only occupying a connection. */
  requestTimeout: 30_000,
  http: {
    /** We refuse a request without a Host ourselves, and say so. */
    requireHostHeader: false,
    /** The limit of the request line and all headers together. This is Node's default, set here so that it stays. */
    maxHeaderSize: 16 * 1024,
    /** Headers fit into a few packets: a caller that takes longer does so on purpose. */
    headersTimeout: 10_000,
    /** How late these two time-outs may fire. */
    connectionsCheckingInterval: 2_000,
  },
}
