import { setTimeout as sleep } from 'node:timers/promises'

/** Enough for any rate while calls are answered; a service that stops answering must not fill our memory. */
const MAX_CONCURRENT = 256

/** A call that is made at a rate until it is stopped. */
type Load = {
  /** Rejects with the first call's error. */
  failed: Promise<never>
  /** How far the calls are behind their rate. */
  behindMs(): number
  /** Resolves once no call is under way any more. */
  stop(): Promise<void>
}

/** Makes calls at a steady rate, however long each takes, as long as not too many are under way. */
export function atRate(perSecond: number, call: () => Promise<void>): Load {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  const underWay = new Set<Promise<void>>()
  let isOver = perSecond === 0
  let behindMs = 0
  const running = run()
  return {
    failed,
    behindMs: () => behindMs,
    async stop() {
      isOver = true
      await running
      await Promise.all(underWay)
    },
  }

  async function run(): Promise<void> {
    const from = performance.now()
    for (let made = 0; !isOver; made++) {
      const dueInMs = from + (made * 1_000) / perSecond - performance.now()
      behindMs = Math.max(0, -dueInMs)
      if (dueInMs > 0) await sleep(dueInMs)
      while (underWay.size >= MAX_CONCURRENT) await Promise.race(underWay)
      make()
    }
  }

  function make(): void {
    const made: Promise<void> = call()
      .catch(error => {
        isOver = true
        reject(error)
      })
      .finally(() => underWay.delete(made))
    underWay.add(made)
  }
}
