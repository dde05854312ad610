import type { Database } from '../../database/database.ts'
import { inSavepoint } from '../../database/in-savepoint.ts'
import { answerEach, type ItemAnswer } from '../../http/answer-each.ts'
import { Conflict } from '../../http/problem.ts'
import type { Log } from '../../log/log.ts'
import type { Asker } from '../audit.ts'
import type { ActCall } from './act-call.ts'
import { listFacts } from './list-facts.ts'

type Each<Request extends object, Item extends object> = {
  name: string
  itemsOf(request: Request): Item[]
  call: Pick<ActCall<Item, undefined, unknown>, 'acts' | 'actsOf' | 'factsOf' | 'act'>
  /** The list in the subject of a proposal, such as `payments.assign`. */
  subjectOf(request: Request): string
  status: number
  /** The members of an item by which its answer is recognised. */
  namesOf(item: Item): object
  log: Pick<Log, 'error'>
}

/** A call with a list, of which each item is done as if it were the only one. */
export function eachCall<Request extends object, Item extends object>({
  name,
  itemsOf,
  call,
  subjectOf,
  status,
  namesOf,
  log,
}: Each<Request, Item>): ActCall<Request, undefined, ItemAnswer[]> {
  const { acts, actsOf } = call
  return {
    name,
    acts: ['bulk', ...acts],
    ...(actsOf && { actsOf: request => ['bulk', ...new Set(itemsOf(request).flatMap(actsOf))] }),
    factsOf: (trx, request) => listFacts(trx, subjectOf(request), itemsOf(request), call),
    act: (db, asker, request) => actEach(db, asker, request, { isWhole: false }),
    async actAsWhole(trx, asker, request) {
      const answers = await actEach(trx, asker, request, { isWhole: true })
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
    { isWhole }: { isWhole: boolean },
  ) {
    const how = { log, requestId: asker.requestId, status, isWhole }
    return answerEach(itemsOf(request), how, item =>
      inSavepoint(db, () => call.act(db, asker, item, undefined)),
    )
  }
}
