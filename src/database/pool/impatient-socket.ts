import { Socket } from 'node:net'

/**
 * A socket that closes if nothing arrives. pg's own `query_timeout` only fails the statement: the next one on that
 * connection would fail too, or run inside a transaction whose BEGIN arrived after all.
 */
export class ImpatientSocket extends Socket {
  #isEnding = false

  /** @param silenceMs how long the socket may be silent before it closes; 0 for ever */
  constructor(silenceMs: number) {
    super()
    this.setTimeout(silenceMs, () => {
      const message = `Connection terminated: PostgreSQL was silent for ${silenceMs} ms`
      this.destroy(this.#isEnding ? undefined : new Error(message))
    })
  }

  override end(...given: unknown[]): this {
    this.#isEnding = true
    return super.end(...(given as []))
  }
}
