import type { Asker } from '../../accounts/audit.ts'
import type { Act } from '../../config/acts.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Resolution } from '../../engine/operation.ts'
import { cancelOperation } from '../../operations/control/cancel.ts'
import { resolveOperation } from '../../operations/control/resolve.ts'
import { parseTrackingId } from '../../operations/tracking-id.ts'
import { assign } from '../../payments/decisions/assign.ts'
import { ACT_OF } from '../../payments/decisions/resolution.ts'
import { resolve } from '../../payments/decisions/resolve.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import { etagOf } from '../../payments/precondition.ts'

export type About = 'operations' | 'payments'
export type Item = { tracking_id: string } | PaymentItem
/** `version`: that of the payment when the decision was confirmed; an earlier release stored none. */
type PaymentItem = {
  gateway: string
  id: string
  kind: PaymentKind
  loan: string | null
  version?: string
}
type Context = Pick<WorkerContext, 'db' | 'boss' | 'ledger' | 'onFinal'>
/** `afterCommit` takes what must happen only if the decision stands. */
type Made = { note: string | null; asker: Asker; afterCommit(work: () => void): void }

type Decision = {
  act: Act
  about: About
  label: string
  effect: string
  needsNote: boolean
  decide(context: Context, item: Item, made: Made): Promise<unknown>
}

/** Each item is decided as if it were the only one. */
export const DECISIONS = {
  'operations.retry': onOperation(
    'operation.resolve',
    'retry: try again',
    'looked up in the ledger, and retried if it is not there',
    resolveAs('retry'),
  ),
  'operations.failed': onOperation(
    'operation.resolve',
    'failed: give them up',
    'looked up in the ledger, and permanently failed if it is not there',
    resolveAs('failed'),
  ),
  'operations.cancel': onOperation(
    'operation.cancel',
    'cancel: those never attempted',
    'permanently cancelled, if it was never attempted',
    async (context, item, { asker, afterCommit }) =>
      afterCommit(await cancelOperation(context, parseTrackingId(item), asker)),
  ),
  'payments.assign': onPayment(
    'payment.assign',
    'assign: each to the loan that it names',
    'assigned to the loan that it names, for the next batch to post',
    false,
    ({ db }, { gateway, id, loan, version }, { note, asker }) =>
      assign(db, {
        gateway,
        paymentId: id,
        loan: loan ?? '',
        note: note ?? undefined,
        asker,
        ifMatch: seenAs(version),
      }),
  ),
  'payments.handled': onPayment(
    ACT_OF.handled,
    'handled: they were booked by hand',
    'marked as handled: it was booked by hand',
    true,
    settleAs('handled'),
  ),
  'payments.dismiss': onPayment(
    ACT_OF.dismiss,
    'dismiss: nothing is to be booked',
    'dismissed: nothing will be booked',
    true,
    settleAs('dismiss'),
  ),
} satisfies Record<string, Decision>

export type DecisionName = keyof typeof DECISIONS
export const DECISION_NAMES = Object.keys(DECISIONS) as DecisionName[]

function onOperation(
  act: Act,
  label: string,
  effect: string,
  decide: (context: Context, trackingId: string, made: Made) => Promise<unknown>,
): Decision {
  return {
    act,
    about: 'operations',
    label,
    effect,
    needsNote: false,
    decide: (context, item, made) =>
      decide(context, 'tracking_id' in item ? item.tracking_id : '', made),
  }
}

function resolveAs(outcome: Resolution) {
  return ({ db, boss }: Context, item: string, { asker }: Made) =>
    resolveOperation(db, boss, parseTrackingId(item), outcome, asker)
}

function onPayment(
  act: Act,
  label: string,
  effect: string,
  needsNote: boolean,
  decide: (context: Context, item: PaymentItem, made: Made) => Promise<unknown>,
): Decision {
  return {
    act,
    about: 'payments',
    label,
    effect,
    needsNote,
    decide: (context, item, made) => decide(context, item as PaymentItem, made),
  }
}

function settleAs(outcome: 'handled' | 'dismiss') {
  return (
    context: Context,
    { gateway, id: paymentId, kind, version }: PaymentItem,
    { note, asker }: Made,
  ) => {
    const resolution = { outcome, note: note ?? '' }
    return resolve(context, { gateway, paymentId, kind }, resolution, asker, seenAs(version))
  }
}

const seenAs = (version: string | undefined) =>
  version === undefined ? undefined : etagOf(version)
