import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import { isReadBack } from '../../books/readback/posted-payments.ts'
import {
  isAssignable,
  isDecided,
  isOpen,
  isPostable,
  isRestorable,
  isReversible,
} from '../../payments/decisions/decidable.ts'
import { etagOf } from '../../payments/precondition.ts'
import { type Html, nothing } from '../frame/html.ts'
import { paymentPath } from '../frame/paths.ts'
import { countText } from '../lists/count.ts'
import { words } from '../text/words.ts'
import type { PaymentContext } from './payment-context.ts'
import type { PaymentItem } from './payments-page.ts'

export function paymentForms(
  payment: PaymentItem,
  version: string,
  {
    refs,
    unreadableKind,
    isOutdated,
  }: Pick<PaymentContext, 'refs' | 'unreadableKind' | 'isOutdated'>,
  role: Role,
): Html {
  if (role === 'viewer') return nothing
  const { kind } = payment
  const [path = '', query] = paymentPath(payment).split('?')
  const action = (verb: string) => `${path}/${verb}${query === undefined ? '' : `?${query}`}`
  const seen = html`<input type="hidden" name="if_match" value="${etagOf(version)}">`
  return html`<h2>Actions</h2><div class="forms">
${isAssignable({ ...payment, isOutdated }) ? assignForm(action('assign'), payment, refs, seen) : nothing}
${isReversible(payment) ? reversalForm(action('reverse'), 'reverse', seen) : nothing}
${isRestorable(payment) ? reversalForm(action('restore'), 'restore', seen) : nothing}
${isOpen(payment) || isDecided(payment) ? resolveForm(action('resolve'), { ...payment, unreadableKind }, seen) : nothing}
<form method="post" action="${action('note')}"><h3>Note for others</h3>
<label>Note <textarea name="note" required maxlength="1000" rows="2"></textarea></label>
<button type="submit" class="secondary">Save note</button></form>
${kind === 'payment' && isReadBack(payment) ? checkForm(action('check')) : nothing}
</div>`
}

function assignForm(
  action: string,
  { external_loan_id, suggested_loan, reason }: PaymentItem,
  refs: PaymentContext['refs'],
  seen: Html,
): Html {
  // Whoever assigns it again is to look which loan its events name now.
  const loan = reason === 'events_disagree' ? null : (external_loan_id ?? suggested_loan)
  return html`<form method="post" action="${action}">${seen}<h3>Assign to a loan</h3>
<label>Loan <input name="external_loan_id" required maxlength="100" value="${loan ?? ''}" autocapitalize="none" spellcheck="false"></label>
${refs.map(
  ref =>
    html`<label><input type="checkbox" name="remember_${ref.kind}" value="true"> remember ${words(ref.kind)} ${aboutReference(ref)}</label>`,
)}
<label>Note <input name="note" maxlength="1000" placeholder="How you know"></label>
<p><small>The next batch posts it to this loan.</small></p>
<button type="submit">Assign</button></form>`
}

function aboutReference({ kind, values, others }: PaymentContext['refs'][number]): string {
  const suggests = kind === 'customer' || kind === 'payer' ? ', which only suggests a loan' : ''
  const waiting = others === 1 ? '1 more payment waits' : `${countText(others)} more payments wait`
  return `${values.join(' and ')}${suggests}${others === 0 ? '' : ` (${waiting} with it)`}`
}

const REVERSALS = {
  reverse: [
    'Reverse',
    'Takes it out of its posted payment at the ledger; the rest is posted again.',
  ],
  restore: ['Restore', 'Posts again what it took out of its payment.'],
} as const

function reversalForm(action: string, outcome: keyof typeof REVERSALS, seen: Html): Html {
  const [name, effect] = REVERSALS[outcome]
  return html`<form method="post" action="${action}">${seen}<h3>${name} at the ledger</h3>
<input type="hidden" name="outcome" value="${outcome}">
<label>Note <textarea name="note" required maxlength="1000" rows="2"></textarea></label>
<p><small>${effect}</small></p>
<button type="submit">${name}</button></form>`
}

function resolveForm(
  action: string,
  payment: PaymentItem & Pick<PaymentContext, 'unreadableKind'>,
  seen: Html,
): Html {
  const { external_loan_id: loan } = payment
  const canPost = isPostable(payment)
  const canDecide = isOpen(payment)
  return html`<form method="post" action="${action}">${seen}<h3>${titleFor(payment)}</h3>
<label>Outcome <select name="outcome">
${canPost ? html`<option value="post">post: book it to a loan</option>` : nothing}
${canDecide ? html`<option value="handled">handled: booked by hand</option><option value="dismiss">dismiss: book nothing</option>` : nothing}
${isDecided(payment) ? html`<option value="reopen">reopen: back to suspense</option>` : nothing}
</select></label>
<label>Note <textarea name="note" required maxlength="1000" rows="2"></textarea></label>
${canDecide ? loanField(loan, canPost) : nothing}
${
  canPost
    ? html`<fieldset><legend>For <code>post</code></legend>
<label>Amount <input name="amount" pattern="\\s*\\d+(\\.\\d{1,2})?\\s*" title="Digits without commas, such as 123456.78" value="${amountToPost(payment)}"></label>
<label>Paid on <input name="paid_on" placeholder="05 March 2026"></label>
<small>The day as 05 March 2026 or 2026-03-05; at most the captured amount.</small></fieldset>`
    : nothing
}
${
  canDecide
    ? html`<label>Transaction at the ledger <input name="ledger_transaction_id" inputmode="numeric" pattern="\\s*[1-9]\\d{0,17}\\s*" title="A number"></label>
<small>For <code>handled</code>, if you know it; it is looked up.</small>`
    : nothing
}
<button type="submit">Resolve</button></form>`
}

/** Browsers send the form for no outcome while it has an amount that no call takes. One of another currency is not the loan's. */
function amountToPost({ amount, reason }: PaymentItem): string {
  if (amount === null || reason === 'currency_mismatch') return ''
  return /^(\d+(?:\.\d{1,2})?)0*$/.exec(amount)?.[1] ?? ''
}

/** Left empty, the loan of a refund or chargeback stays the one of its payment. */
function loanField(loan: string | null, canPost: boolean): Html {
  const [value, use] = canPost
    ? [loan, html`For <code>post</code>, and the loan of the transaction for <code>handled</code>.`]
    : [
        null,
        html`For <code>handled</code>: the loan of the transaction${loan === null ? '' : ', if it is another one'}.`,
      ]
  return html`<label>Loan <input name="external_loan_id" maxlength="100" value="${value ?? ''}" placeholder="${loan ?? ''}" autocapitalize="none" spellcheck="false"></label>
<small>${use}</small>`
}

function titleFor({ state, objection }: PaymentItem): string {
  if (state === 'suspense') return 'Resolve'
  return objection === null ? 'Reopen' : 'Clear the objection'
}

function checkForm(action: string): Html {
  return html`<form method="post" action="${action}"><h3>Compare with the ledger</h3>
<p>Reads its repayment back now.</p><button type="submit" class="secondary">Check</button></form>`
}
