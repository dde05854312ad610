// Of four writes at once on one loan a real ledger refuses one: the others wait for each other.
const AT_MOST_AT_ONCE = 3

/** Writes to one loan that take time are done one after the other. */
export class Turns {
  readonly #queues = new Map<string, { last: Promise<void>; length: number }>()

  isFree(loan: string): boolean {
    return !this.#queues.has(loan)
  }

  // Resolves to what ends the turn; undefined where too many wait already.
  async take(loan: string): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(loan) ?? { last: Promise.resolve(), length: 0 }
    if (queue.length >= AT_MOST_AT_ONCE) return undefined
    const before = queue.last
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.last = promise
    queue.length++
    this.#queues.set(loan, queue)
    await before
    return () => {
      queue.length--
      if (queue.length === 0) this.#queues.delete(loan)
      resolve()
    }
  }
}
