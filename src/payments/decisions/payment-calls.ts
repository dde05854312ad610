import type { PgBoss } from 'pg-boss'
import type { ActCall } from '../../accounts/approvals/act-call.ts'
import { eachCall } from '../../accounts/approvals/each-call.ts'
import type { Act } from '../../config/acts.ts'
import type { PaymentSettings } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { ExternalId, isExternalId } from '../../http/fields/text-fields.ts'
import { invalidField } from '../../http/problem.ts'
import type { ForCaller } from '../../ledger/calls/read-for-caller.ts'
import type { Log } from '../../log/log.ts'
import type { PaymentName } from '../locked-payment.ts'
import type { PaymentKind } from '../payment-record.ts'
import { readNamedPayment } from '../reading/find-payments.ts'
import type { ReferenceKind } from '../references/reference-record.ts'
import { assign } from './assign.ts'
import { decisionFacts } from './payment-facts.ts'
import { productToRemember } from './remember.ts'
import { actOf, type PaymentResolution, RESOLUTION_ACTS } from './resolution.ts'
import { resolveAsSeen, type Seen, seenFor } from './resolve.ts'

type Named = {
  gateway: string
  gateway_payment_id: string
  kind?: PaymentKind | undefined
  if_match?: string | undefined
}
type AssignRequest = Named & {
  external_loan_id: string
  note?: string | undefined
  remember?: ReferenceKind[] | undefined
}
type ResolveRequest = Named & PaymentResolution

type Context = ForCaller & {
  db: Database
  boss: PgBoss
  log: Pick<Log, 'error'>
  config: PaymentSettings
}
type AssignCall = ActCall<AssignRequest, string | undefined, void>

export function paymentCalls(context: Context) {
  const { db, boss, log, config } = context
  const answer = async (request: Named, name = nameOf(request)) => ({
    status: 200,
    body: (await readNamedPayment(db, name)).payment,
  })

  const assignCall: AssignCall = {
    name: 'payments.assign',
    acts: ['payment.assign', 'reference.write'],
    actsOf: actsOfAssigning,
    factsOf: (trx, request) =>
      decisionFacts(trx, { ...nameOf(request), kind: 'payment' }, actsOfAssigning(request)),
    look: ({ external_loan_id: loan, remember }, _, signal) =>
      productToRemember({ ...context, ...(signal && { signal }) }, loan, remember),
    act: (db, asker, request, product) =>
      assign(db, {
        ...nameOf(request),
        loan: request.external_loan_id,
        note: request.note,
        remembered: request.remember && { kinds: request.remember, product, config },
        asker,
        ifMatch: request.if_match,
      }),
    answer: request => answer(request, { ...nameOf(request), kind: 'payment' }),
  }

  const resolveCall: ActCall<ResolveRequest, Seen, void> = {
    name: 'payments.resolve',
    acts: RESOLUTION_ACTS,
    // The route asks for the acts before the body is checked.
    actsOf: ({ outcome }) => (typeof outcome === 'string' ? [actOf(outcome)] : RESOLUTION_ACTS),
    factsOf: (trx, request) => {
      const posted = request.outcome === 'post' ? String(request.amount) : undefined
      return decisionFacts(trx, nameOf(request), [actOf(request.outcome)], posted)
    },
    look: (request, asker, signal) =>
      seenFor({ ...context, ...(signal && { signal }) }, wantedBy(request), asker),
    act: (db, asker, request, seen) => resolveAsSeen({ db, boss }, seen, wantedBy(request), asker),
    answer: request => answer(request),
  }

  return { assignCall, assignEachCall: eachAssignment(assignCall, log), resolveCall }
}

function eachAssignment(assignCall: AssignCall, log: Context['log']) {
  return eachCall<{ assignments: AssignRequest[] }, AssignRequest, string | undefined>({
    name: 'payments.assign_each',
    itemsOf: ({ assignments }) => assignments,
    call: {
      ...assignCall,
      async act(db, asker, one, product) {
        if (!isExternalId(one.external_loan_id))
          throw invalidField('/external_loan_id', `must be ${ExternalId.description}`)
        await assignCall.act(db, asker, one, product)
      },
    },
    subjectOf: () => 'payments.assign',
    status: 200,
    namesOf: ({ gateway, gateway_payment_id }) => ({ gateway, gateway_payment_id }),
    log,
  })
}

function actsOfAssigning({ remember = [] }: AssignRequest): Act[] {
  return remember.length > 0 ? ['payment.assign', 'reference.write'] : ['payment.assign']
}

function nameOf({ gateway, gateway_payment_id: paymentId, kind }: Named): PaymentName {
  return { gateway, paymentId, ...(kind && { kind }) }
}

function wantedBy(request: ResolveRequest) {
  const { gateway, gateway_payment_id, kind, if_match: ifMatch, ...resolution } = request
  return { name: nameOf(request), resolution, ifMatch }
}
