import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { GATEWAYS, type GatewayName } from '../gateways/gateways.ts'
import type { Proof } from '../proofs.ts'

/** What the settings of the loan's lender say of an event's sender. */
export type Sender = {
  lender: string
  verifiedBy: string | null
  isProved: boolean
  /** Sent from outside the lender's networks. */
  isOutside: boolean
}

/**
 * `day`: when it was paid, as `dd MMMM yyyy` in the ledger's time zone; null if the event only names the loan of its
 * payment link.
 */
type CapturedEvent = Sender & {
  namesLoan: boolean
  /** Whether it names a loan that the operator who assigned the payment neither chose nor overruled. */
  namesOther: boolean
  statesFee: boolean
  day: string | null
}

/** The fee that the payer paid on top of the order's amount. */
type PayerFee = {
  fee: string
  /** How much of the fee was left out so far; null if nothing was. */
  kept: string | null
  /** The captured amount, less what went back. */
  captured: string
  /** Whether order and fee add up to the payment, and the fee is not all of it. */
  addsUp: boolean
  /** Only unverified events state it, beside the gateway's own answer. */
  isUnverified: boolean
}

export type DuePayment = {
  gateway: GatewayName
  /** The amount in the currency's units, with every digit. */
  amount: string
  currency: string | null
  /** The payer's fee; null if there is none, or an operator has decided what to post. */
  payerFee: PayerFee | null
  /** An operator's decision, which overrides everything else; null if the events decide. */
  decided: { day: string; capturedAmount: string | null } | null
  externalId: string
  receiptNumber: string
  events: CapturedEvent[]
  /** Whether an event that counts is verified; unverified ones beside it only add what it leaves out. */
  isVerified: boolean
  overruled: string[]
  /** The objection. Null if an attempt may have arrived or an operator has decided. */
  objection: string | null
  /** A payment of the same money under another id. Also null if an attempt may have arrived or an operator has decided. */
  twin: string | null
  /**
   * Whether, since the payment was sent on its way, references have stopped giving it this loan, or other events count.
   * False if an attempt may have arrived.
   */
  isOutdated: boolean
}

/** The assignment of a payment counts as its review. */
export const isReviewed = ({ overruled }: DuePayment): boolean => overruled.length > 0

type Judges = { product: string | null; proofs: Proof[] }

/** @param of the loan's product and its lenders' proofs; omit it where only the amount matters */
export async function duePayment(
  db: Database,
  id: string,
  timeZone: string,
  of: Judges = { product: null, proofs: [] },
): Promise<DuePayment> {
  type Row = Omit<DuePayment, 'externalId' | 'receiptNumber'> & {
    paymentId: string
    postingNumber: number
  }
  const { rows } = await sql<Row>`${prepared('due_payment')}
    select t.gateway, coalesce(t.booked_as, t.gateway_payment_id) as "paymentId",
           trim_scale(core.posted_amount(t))::text as amount, t.currency,
           case when t.decision is null and base.number_of(t.hints -> 'payer_fee') between 0 and t.amount then json_build_object(
             'fee', trim_scale(base.number_of(t.hints -> 'payer_fee'))::text, 'kept', trim_scale(t.payer_fee)::text,
             'captured', trim_scale(t.amount - coalesce(t.returned_amount, 0))::text,
             'addsUp', not t.hints ? 'payer_fee_differs' and base.number_of(t.hints -> 'payer_fee') < t.amount,
             'isUnverified', u.is_fee) end as "payerFee",
           case when t.decision = 'post' then json_build_object(
             'day', to_char(t.decided_day, 'DD FMMonth YYYY'),
             'capturedAmount', case when t.amount > 0 then trim_scale(t.amount)::text end) end as decided,
           t.posting_number as "postingNumber", t.overruled, e.events, t.is_verified as "isVerified",
           case when o.unknown_since is null and t.decision is null then t.objection end as objection,
           case when o.unknown_since is null and not core.is_of_own_money(t) then core.twin_of(t) end as twin,
           o.unknown_since is null and (core.is_matched_elsewhere(t) or t.is_stale and t.decision is null) as "isOutdated"
      from core.transaction t
      left join loanops.operation o on o.id = t.operation_id
     cross join lateral (
       select coalesce(t.hints -> 'unverified' ? 'loan', false), coalesce(t.hints -> 'unverified' ? 'payer_fee', false)) u (is_loan, is_fee)
     cross join lateral (${judgedEvents(timeZone, of)}) e
     where t.id = ${id}`.execute(db)
  const row = rows[0]
  if (row === undefined) throw new Error(`no core transaction ${id}`)
  const { paymentId, postingNumber, ...payment } = row
  return {
    ...payment,
    externalId: repaymentExternalId(payment.gateway, paymentId, postingNumber),
    receiptNumber: paymentId,
  }
}

/** The members of the Sender of a row of core.event. */
export const senderFor = ({ product, proofs }: Judges) => sql`
                'lender', lender, 'verifiedBy', case when not is_foreign then verified_by end,
                -- Without a lender, only the gateway's own response proves an event.
                'isProved', (select coalesce(bool_or(core.is_proved(p.account, p.proved_by, lender, verified_by)),
                                      verified_by = 'gateway_api', false)
                               from jsonb_to_recordset(${JSON.stringify(proofs)}) p (gateway text, account text, proved_by text[])
                              where p.gateway = event.gateway),
                'isOutside', core.is_outside(${product}::text, gateway, address, verified_by)`

/**
 * The events that decide whether `t` may be posted: the verified ones and, where `u` says that these leave out the loan or
 * the fee, also the unverified ones of the same money.
 */
const judgedEvents = (timeZone: string, judges: Judges) => sql`
       select coalesce(json_agg(json_build_object(
                ${senderFor(judges)},
                -- An event that names no loan does not prove the loan that another one names.
                'namesLoan', case when status = 'named' then external_loan_id = t.named_loan_id
                                  when t.is_verified and t.assigned_loan_id is null and u.is_loan <> (own_proof is null) then false
                                  else coalesce(t.assigned_loan_id, t.matched_by, external_loan_id) is not null end,
                'namesOther', case when t.is_verified and t.assigned_over is not null and u.is_loan and own_proof is null
                                   and o.unknown_since is null
                  -- The loan of a link counts where the payment itself names none.
                  then core.is_another_loan(t, case when status = 'captured' or not names_own_loan then external_loan_id end) is true
                       or core.refer_elsewhere(t, core.references_of(array[hints]), t.paid_at) else false end,
                'statesFee', own_proof is null and hints -> 'payer_fee' = t.hints -> 'payer_fee',
                'day', to_char(paid_at at time zone ${timeZone}, 'DD FMMonth YYYY'))
                  order by t.is_verified and own_proof is null, paid_at, received_at, raw_id), '[]') as events
         from (
       select e.*, core.own_proof(e) as own_proof,
              bool_or(status = 'captured' and external_loan_id is not null and not is_outside and not is_unproved) over () as names_own_loan
         from core.event e
        where gateway_payment_id = t.gateway_payment_id and gateway = t.gateway and kind = t.kind and status in ('captured', 'named')
          and set_aside is null
          and (core.own_proof(e) is not null or not t.is_verified
               or (u.is_loan or u.is_fee) and problem is null and (status = 'named' or amount = t.amount and currency = t.currency))) event`

export async function otherLoansTried(db: Database, id: string, loan: string): Promise<string[]> {
  const { rows } = await sql<{ loan: string }>`
    select distinct o.external_id as loan
      from core.posting p join loanops.operation o on o.id = p.operation_id
     where p.transaction_id = ${id} and o.external_id <> ${loan}`.execute(db)
  return rows.map(row => row.loan)
}

/** The external id is the same whether a webhook or a file brings the payment, so that the ledger accepts it once. */
export function repaymentExternalId(gateway: string, paymentId: string, postingNumber = 1): string {
  const isPlain = /^[A-Za-z0-9_]{1,64}$/.test(paymentId)
  const name = isPlain ? paymentId : hash('sha256', paymentId).slice(0, 32)
  return `${gateway}-${name}${postingNumber > 1 ? `-r${postingNumber}` : ''}`
}

export const gatewayNamedIn = (externalId = '') =>
  GATEWAYS.find(gateway => externalId.startsWith(`${gateway}-`))

export const namesGateway = (externalId = '') => gatewayNamedIn(externalId) !== undefined

/** Two gateways may give the same id, and the ledger keeps only the beginning of a long one as the receipt number. */
export function isOfAnotherPayment(externalId = '', ours: string): boolean {
  return namesGateway(externalId) && withoutPostingNumber(externalId) !== withoutPostingNumber(ours)
}

/** A file may have the payment's id in capitals, or with zeros before its digits. */
const withoutPostingNumber = (externalId: string) =>
  externalId
    .replace(/-r\d+$/, '')
    .replace(/-0+(?=(?:[1-9]\d*|0)$)/, '-')
    .toLowerCase()
