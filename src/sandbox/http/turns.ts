// Of four concurrent writes to one loan, Fineract refuses one; the others wait for each other.
const MAX_CONCURRENT = 3

export class Turns {
  readonly #queues = new Map<string, { last: Promise<void>; length: number }>()

  isFree(loan: string): boolean {
    return !this.#queues.has(loan)
  }

  // Resolves to a function that ends the turn, or to undefined if too many are waiting.
  async take(loan: string): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(loan) ?? { last: Promise.resolve(), length: 0 }
    if (queue.length >= MAX_CONCURRENT) return undefined
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
