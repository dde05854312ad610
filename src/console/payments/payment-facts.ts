import { html } from 'hono/html'
import { amount, type Formats, inLoansCurrency } from '../frame/formats.ts'
import { facts, type Html, linked, nothing } from '../frame/html.ts'
import { loanPath, operationPath, paymentPath, settlementPath } from '../frame/paths.ts'
import { firstOf } from '../lists/table.ts'
import { WAYS_OUT } from '../operations/ways-out.ts'
import { quoted } from '../text/quoted.ts'
import { words } from '../text/words.ts'
import { MAX_AGAINST, type PaymentContext } from './payment-context.ts'
import { type PaymentItem, paymentState } from './payments-page.ts'
import { REASONS_IN_WORDS } from './reasons-in-words.ts'

export function paymentFacts(payment: PaymentItem, around: PaymentContext, formats: Formats): Html {
  const { external_loan_id: loan, reason, objection, waiting_for, of_payment_id: of } = payment
  const { gateway } = payment
  const { shown: against, rest } = firstOf(around.against, MAX_AGAINST)
  return html`${facts([
    ['State', paymentState(payment)],
    ['Why', REASONS_IN_WORDS[objection ?? reason ?? ''] ?? WAYS_OUT[waiting_for ?? ''] ?? null],
    ['Detail', payment.detail],
    ['Next try', formats.time(payment.next_try_at)],
    ['Amount', amount(payment.amount, payment.currency)],
    ['Amount for the loan', amountForLoan(around.forLoan, payment.currency)],
    [
      'Went back',
      payment.returned_amount === null ? null : amount(payment.returned_amount, payment.currency),
    ],
    ['Loan', linked(loan, loanPath)],
    ['Loan named by', payment.matched_by === null ? null : words(payment.matched_by)],
    ['Suggested loan', payment.suggested_loan],
    ['Note', around.note === null ? null : html`${quoted(around.note)}, by ${around.notedBy}`],
    ['Lender', payment.lender],
    ['Gateway', words(gateway)],
    ['Paid', formats.time(payment.paid_at)],
    ['Received', formats.time(payment.received_at)],
    ['Posted', formats.time(payment.posted_at)],
    ['Transaction at the ledger', payment.ledger_transaction_id],
    ['Repayment', linked(around.repayment, operationPath)],
    ['Verified', payment.verified ? 'yes' : 'no: nothing proves that it comes from the gateway'],
    [
      'Of the payment',
      linked(of, id => paymentPath({ gateway, gateway_payment_id: id, kind: 'payment' })),
    ],
    [
      'Refunds and disputes',
      against.length === 0
        ? null
        : html`${against.map(one => html`<a href="${paymentPath(one)}">${one.kind} ${one.gateway_payment_id}</a> `)}${rest}`,
    ],
    ['The gateway says', stated(around, formats)],
    ['Settlement', linked(payment.settlement_id, settlementPath)],
    ['First event', `${payment.raw_table} ${payment.raw_id}`],
  ])}
${hints(payment.hints)}`
}

function amountForLoan(forLoan: PaymentContext['forLoan'], currency: string | null): string {
  if (forLoan === null) return ''
  const { amount: sum, day, isConverted } = forLoan
  const shown = isConverted ? inLoansCurrency(sum) : amount(sum, currency)
  return day === null ? shown : `${shown} as of ${day}`
}

function stated({ statement }: PaymentContext, formats: Formats): Html | null {
  if (statement === null) return null
  const { status, amount: value, currency, captured_at, source } = statement
  return html`${status}, ${amount(value, currency)}, ${formats.time(captured_at)} (${source})`
}

function hints(values: object | null): Html {
  const known = Object.entries(values ?? {}).filter(([, value]) => value !== null)
  if (known.length === 0) return nothing
  return html`<details open><summary>Hints in the payload</summary>${facts(
    known.map(([name, value]) => [
      words(name),
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  )}</details>`
}
