import { hash } from 'node:crypto'
import { Decimal } from 'decimal.js'
import type { Trx } from '../../database/database.ts'
import type { ActCall, Facts } from './act-call.ts'

/**
 * The facts of a call with a list: what each of its items is about, and all together.
 * @param what such as `payments.assign`
 */
export async function listFacts<Item extends object>(
  trx: Trx,
  what: string,
  items: Item[],
  { factsOf }: Pick<ActCall<Item, never, never>, 'factsOf'>,
): Promise<Facts> {
  const all: (Facts | null)[] = []
  for (const item of items) all.push(await factsOf(trx, item).catch(refused))
  const known = all.filter(one => one !== null)
  const currencies = new Set(known.map(({ currency }) => currency))
  const isSum = currencies.size === 1 && known.every(({ amount }) => amount !== null)
  const sum = isSum ? Decimal.sum(...known.map(({ amount }) => amount ?? 0)).toString() : null
  const currency = isSum ? (known[0]?.currency ?? null) : null
  const parts = known.flatMap(one => one.parts)
  return {
    act: 'bulk',
    subject: `${what} ${hash('sha256', known.map(one => one.subject).join()).slice(0, 32)}`,
    parts: [...parts, ...parts.map(({ amount }) => ({ act: 'bulk' as const, amount }))],
    amount: sum,
    currency,
    shown: { count: items.length, sum, currency },
    state: all.map(one => one?.state ?? null),
  }
}

/** An item that cannot be read now has no facts: the call itself will refuse it, and do the others. */
function refused(error: { statusCode?: number }): null {
  if ((error.statusCode ?? 500) >= 500) throw error
  return null
}
