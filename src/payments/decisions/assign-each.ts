import type { ActCall } from '../../accounts/approvals/act-call.ts'
import { listFacts } from '../../accounts/approvals/list-facts.ts'
import { inSavepoint } from '../../database/in-savepoint.ts'
import { answerEach, type ItemAnswer } from '../../http/answer-each.ts'
import { ExternalId, isExternalId } from '../../http/fields/text-fields.ts'
import { invalidField } from '../../http/problem.ts'
import type { Log } from '../../log.ts'

type One = { gateway: string; gateway_payment_id: string; external_loan_id: string }

/** A list of assignments, each as in a call of its own. */
export function assignEach<Assignment extends One>(
  assignCall: ActCall<Assignment, undefined, void>,
  log: Pick<Log, 'error'>,
): ActCall<{ assignments: Assignment[] }, undefined, ItemAnswer[]> {
  return {
    name: 'payments.assign_each',
    actsOf: ({ assignments }) => [
      'bulk',
      ...new Set(assignments.flatMap(one => assignCall.actsOf(one))),
    ],
    factsOf: (trx, { assignments }) => listFacts(trx, 'payments.assign', assignments, assignCall),
    act: (db, asker, { assignments }) =>
      answerEach(log, asker, assignments, 200, one =>
        inSavepoint(db, async () => {
          if (!isExternalId(one.external_loan_id))
            throw invalidField('/external_loan_id', `must be ${ExternalId.description}`)
          await assignCall.act(db, asker, one, undefined)
        }),
      ),
    answer: async ({ assignments }, answers) => {
      const results = assignments.map(({ gateway, gateway_payment_id }, i) => ({
        gateway,
        gateway_payment_id,
        ...answers[i],
      }))
      return { status: 200, body: { results } }
    },
  }
}
