import type { Asker } from '../../accounts/audit.ts'
import type { Act } from '../../config/acts.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Resolution } from '../../engine/operation.ts'
import { cancelOperation } from '../../operations/control/cancel.ts'
import { resolveOperation } from '../../operations/control/resolve.ts'
import { parseTrackingId } from '../../operations/tracking-id.ts'
import { assign } from '../../payments/decisions/assign.ts'
import { resolveAsSeen, seenFor } from '../../payments/decisions/resolve.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import { etagOf } from '../../payments/precondition.ts'

export type About = 'operations' | 'payments'
type OperationItem = { tracking_id: string }
export type Item = OperationItem | PaymentItem
/** `version`: that of the payment when the decision was confirmed. */
type PaymentItem = {
  gateway: string
  id: string
  kind: PaymentKind
  loan: string | null
  version: string
}
type Context = Pick<WorkerContext, 'db' | 'boss' | 'ledger' | 'onFinal'>
/** `afterCommit` takes what must happen only if the decision stands. */
type DecisionContext = { note: string | null; asker: Asker; afterCommit(work: () => void): void }

type Decision = {
  act: Act
  about: About
  label: string
  effect: string
  needsNote?: boolean
  decide(context: Context, item: Item, made: DecisionContext): Promise<unknown>
}

const WITH_OBJECTION =
  '; but one with an objection keeps its state, and only the objection is cleared'

/** Each item is decided as if it were the only one. */
const decisions = {
  'operations.retry': {
    act: 'operation.resolve',
    about: 'operations',
    label: 'retry: try again',
    effect: 'looked up in the ledger, and retried if it is not there',
    decide: resolveAs('retry'),
  },
  'operations.failed': {
    act: 'operation.resolve',
    about: 'operations',
    label: 'failed: give them up',
    effect: 'looked up in the ledger, and permanently failed if it is not there',
    decide: resolveAs('failed'),
  },
  'operations.cancel': {
    act: 'operation.cancel',
    about: 'operations',
    label: 'cancel: those never attempted',
    effect: 'permanently cancelled, if it was never attempted',
    decide: async (context, { tracking_id }: OperationItem, { asker, afterCommit }) =>
      afterCommit(await cancelOperation(context, parseTrackingId(tracking_id), asker)),
  },
  'payments.assign': {
    act: 'payment.assign',
    about: 'payments',
    label: 'assign: each to the loan that it names',
    effect: 'assigned to the loan that it names, for the next batch to post',
    decide: ({ db }, { gateway, id, loan, version }: PaymentItem, { note, asker }) =>
      assign(db, {
        gateway,
        paymentId: id,
        loan: loan ?? '',
        note: note ?? undefined,
        asker,
        ifMatch: etagOf(version),
      }),
  },
  'payments.handled': {
    act: 'payment.handled',
    about: 'payments',
    label: 'handled: they were booked by hand',
    effect: `marked as handled: it was booked by hand${WITH_OBJECTION}`,
    needsNote: true,
    decide: decideAs('handled'),
  },
  'payments.dismiss': {
    act: 'payment.dismiss',
    about: 'payments',
    label: 'dismiss: nothing is to be booked',
    effect: `dismissed: nothing will be booked${WITH_OBJECTION}`,
    needsNote: true,
    decide: decideAs('dismiss'),
  },
} satisfies Record<string, Decision>

export type DecisionName = keyof typeof decisions
export const DECISIONS: Record<DecisionName, Decision> = decisions
export const DECISION_NAMES = Object.keys(decisions) as DecisionName[]

function resolveAs(outcome: Resolution) {
  return (context: Context, { tracking_id }: OperationItem, { asker }: DecisionContext) =>
    resolveOperation(context, parseTrackingId(tracking_id), outcome, asker)
}

function decideAs(outcome: 'handled' | 'dismiss') {
  return async (context: Context, item: PaymentItem, { note, asker }: DecisionContext) => {
    const { gateway, id: paymentId, kind, version } = item
    const resolution = { outcome, note: note ?? '' }
    const wanted = { name: { gateway, paymentId, kind }, resolution, ifMatch: etagOf(version) }
    await resolveAsSeen(context, await seenFor(context, wanted, asker), wanted, asker)
  }
}
