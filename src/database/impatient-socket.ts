import { Socket } from 'node:net'

/**
 * pg's own `query_timeout` only fails the statement: the next one on that connection would fail too, or run
 * inside a transaction whose BEGIN arrived after all.
 */
export class ImpatientSocket extends Socket {
  #isEnding = false

  /** @param silenceMs 0: never closes */
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
