import { once } from 'node:events'
import type { WorkerContext } from '../engine/feature.ts'
import type { Job } from '../queue/job.ts'
import { startLoop } from '../queue/loop.ts'

const TRY_AGAIN_MS = 60_000
const DAY_MS = 86_400_000

/** No loan can be created under such a product, and a payment for a loan of it is posted only by an operator. */
export function warnOfMissingProducts(
  context: Pick<WorkerContext, 'config' | 'reference' | 'slots' | 'log'>,
): Job {
  const { log } = context
  return startLoop(
    async stopping => {
      // A hung read must not hold up the stop.
      const missing = await Promise.race([missingProducts(context), aborted(stopping)])
      if (missing.length > 0)
        log.warn(
          `The ledger has no product ${missing.join(', ')}: create it there, or set product in LENDERS_FILE`,
        )
      return DAY_MS
    },
    // That the ledger cannot be read is reported elsewhere.
    { everyMs: TRY_AGAIN_MS, onError: () => undefined },
  )
}

async function missingProducts({
  config,
  reference,
  slots,
}: Pick<WorkerContext, 'config' | 'reference' | 'slots'>): Promise<string[]> {
  const missing: string[] = []
  for (const { code, products } of config.lenders.values())
    for (const name of products) {
      const product = await slots.run('bulk', () => reference.findProduct(name))
      if (product === undefined) missing.push(`${name} (${code})`)
    }
  return missing
}

async function aborted(signal: AbortSignal): Promise<string[]> {
  if (!signal.aborted) await once(signal, 'abort')
  return []
}
