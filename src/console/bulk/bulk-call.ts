import type { ActCall } from '../../accounts/approvals/act-call.ts'
import type { Act } from '../../config/acts.ts'
import type { Config } from '../../config/config.ts'
import { lockSettling } from '../../payments/lock-settling.ts'
import { createBulk, measureItems, type NewBulk } from './bulk-store.ts'
import { DECISIONS } from './decisions.ts'
import { type BulkFilter, matchingItems } from './matching-items.ts'

type BulkRequest = NewBulk & { filter: BulkFilter }

/** A decision about everything that matches a filter. Its items are decided later, one by one. */
export function bulkCall({
  config,
}: {
  config: Pick<Config, 'LEDGER_TIMEZONE'>
}): ActCall<BulkRequest, undefined, void> {
  const itemsOf = ({ decision, filter }: BulkRequest) =>
    matchingItems(decision, filter, config.LEDGER_TIMEZONE)
  const actsOf = ({ decision }: BulkRequest): Act[] => ['bulk', DECISIONS[decision].act]
  return {
    name: 'bulk.start',
    acts: [...new Set<Act>(['bulk', ...Object.values(DECISIONS).map(({ act }) => act)])],
    actsOf,
    async factsOf(trx, request) {
      // Items that arrived afterwards would be decided with those that were measured.
      await lockSettling(trx)
      const { count, digest, greatest, sum, currency } = await measureItems(trx, itemsOf(request))
      return {
        act: 'bulk',
        subject: `${request.decision} ${digest}`,
        parts: actsOf(request).map(act => ({ act, amount: greatest })),
        amount: sum,
        currency,
        shown: { count, sum, currency },
        state: [count, digest],
      }
    },
    act: (db, asker, request) => createBulk(db, request, itemsOf(request), asker),
    answer: async ({ id, count }) => ({ status: 202, body: { bulk_id: id, count } }),
  }
}
