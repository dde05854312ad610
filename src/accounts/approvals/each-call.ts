import { hash } from 'node:crypto'
import { Decimal } from 'decimal.js'
import type { Database, Trx } from '../../database/database.ts'
import { inSavepoint } from '../../database/in-savepoint.ts'
import { answerEach, type ItemAnswer } from '../../http/answer-each.ts'
import { Conflict } from '../../http/problem.ts'
import type { Log } from '../../log/log.ts'
import type { Asker } from '../audit.ts'
import type { ActCall, Facts } from './act-call.ts'

type Each<Request extends object, Item extends object, Looked> = {
  name: string
  itemsOf(request: Request): Item[]
  call: Pick<ActCall<Item, Looked, unknown>, 'acts' | 'actsOf' | 'factsOf' | 'look' | 'act'>
  /** The list in the subject of a proposal, such as `payments.assign`. */
  subjectOf(request: Request): string
  status: number
  /** The members of an item by which its answer is recognised. */
  namesOf(item: Item): object
  log: Pick<Log, 'error'>
}

/** A call with a list, of which each item is done as if it were the only one. */
export function eachCall<Request extends object, Item extends object, Looked>({
  name,
  itemsOf,
  call,
  subjectOf,
  status,
  namesOf,
  log,
}: Each<Request, Item, Looked>): ActCall<Request, PromiseSettledResult<Looked>[], ItemAnswer[]> {
  const { acts, actsOf, look } = call
  return {
    name,
    acts: ['bulk', ...acts],
    ...(actsOf && { actsOf: request => ['bulk', ...new Set(itemsOf(request).flatMap(actsOf))] }),
    factsOf: (trx, request) => listFacts(trx, subjectOf(request), itemsOf(request), call),
    ...(look && {
      look: (request, asker, signal) =>
        Promise.allSettled(itemsOf(request).map(item => look(item, asker, signal))),
    }),
    act: (db, asker, request, looked) => actEach(db, asker, request, { looked, isWhole: false }),
    async actAsWhole(trx, asker, request, looked) {
      const answers = await actEach(trx, asker, request, { looked, isWhole: true })
      if (answers.every(({ code }) => code !== null))
        throw new Conflict(`Every item was refused; the first because: ${answers[0]?.detail}`)
      return answers
    },
    async answer(request, answers) {
      const results = itemsOf(request).map((item, i) => ({ ...namesOf(item), ...answers[i] }))
      return { status: 200, body: { results } }
    },
  }

  function actEach(
    db: Database,
    asker: Asker,
    request: Request,
    { looked, isWhole }: { looked: PromiseSettledResult<Looked>[] | undefined; isWhole: boolean },
  ) {
    const how = { log, requestId: asker.requestId, status, isWhole }
    const items = itemsOf(request).map((item, i) => ({ item, seen: looked?.[i] }))
    return answerEach(items, how, (item, seen: Looked) =>
      inSavepoint(db, () => call.act(db, asker, item, seen)),
    )
  }
}

/**
 * The facts of a call with a list: what each of its items is about, and all together.
 * @param what such as `payments.assign`
 */
async function listFacts<Item extends object>(
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
