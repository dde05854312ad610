import { html } from 'hono/html'
import type { Role } from '../../accounts/account.ts'
import { RESOLVABLE } from '../../engine/operation.ts'
import { actionInWords } from '../audit/actions-on.ts'
import { callbackState } from '../callbacks/callbacks-page.ts'
import { amount, type Formats } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { callbackPath, operationPath, paymentPath } from '../frame/paths.ts'
import { statusOf } from '../operations/operations-page.ts'
import { WAYS_OUT } from '../operations/ways-out.ts'
import { paymentState } from '../payments/payments-page.ts'
import { REASONS_IN_WORDS } from '../payments/reasons-in-words.ts'
import { quoted } from '../text/quoted.ts'
import { words } from '../text/words.ts'
import type { ActionEntry, CallbackEntry, Entry, OperationEntry, PaymentEntry } from './entries.ts'

export function entryItem(entry: Entry, role: Role, formats: Formats): Html {
  return html`<li>${formats.time(entry.at)} ${contentOf()}</li>`

  function contentOf(): Html {
    switch (entry.kind) {
      case 'operation':
        return operationItem(entry.operation, role, formats)
      case 'payment':
        return paymentItem(entry.payment, role, formats)
      case 'callback':
        return callbackItem(entry.callback)
      case 'action':
        return actionItem(entry.action)
    }
  }
}

function operationItem(operation: OperationEntry, role: Role, formats: Formats): Html {
  const { tracking_id, operation_type, waiting_for, attempts, error_message, last_error } =
    operation
  const path = operationPath(tracking_id)
  const canDecide = role !== 'viewer' && RESOLVABLE.includes(waiting_for ?? '')
  return html`<strong><a href="${path}">${operation_type}</a></strong> ${statusOf(operation)}
${operation.processed_at === null ? nothing : html`<small>ended ${formats.time(operation.processed_at)}</small>`}
${error_message === null ? nothing : html`<p>${error_message}</p>`}
${
  operation.status === 'processing' && waiting_for !== null
    ? html`<p>${WAYS_OUT[waiting_for]} ${last_error} ${operation.next_try_at === null ? nothing : html`Next try ${formats.time(operation.next_try_at)}.`}</p>`
    : nothing
}
${canDecide ? html`<p><a role="button" href="${path}">Resolve…</a></p>` : nothing}
${
  attempts.length === 0
    ? nothing
    : html`<ol>${attempts.map(
        one =>
          html`<li>${formats.time(one.started_at)} ${one.method} ${one.path} ${one.http_status} ${words(one.outcome ?? 'under_way')}${one.times > 1 ? `, ${one.times} times` : ''}</li>`,
      )}</ol>`
}`
}

function paymentItem(payment: PaymentEntry, role: Role, formats: Formats): Html {
  const { kind, gateway_payment_id, reason, objection, events, state } = payment
  const isOpen = state === 'suspense' || objection !== null
  const why = REASONS_IN_WORDS[objection ?? reason ?? ''] ?? WAYS_OUT[payment.waiting_for ?? '']
  return html`<strong>${kind} <a href="${paymentPath(payment)}">${gateway_payment_id}</a></strong> ${amount(payment.amount, payment.currency)} ${paymentState(payment)}
${payment.returned_amount === null ? nothing : html`<small>${amount(payment.returned_amount, payment.currency)} went back</small>`}
${payment.posted_at === null ? nothing : html`<small>posted ${formats.time(payment.posted_at)}</small>`}
${why === undefined ? nothing : html`<p>${why} ${payment.next_try_at === null ? nothing : html`Next try ${formats.time(payment.next_try_at)}.`}</p>`}
${payment.note === null ? nothing : html`<p>${quoted(payment.note)}, by ${payment.noted_by}</p>`}
${isOpen && role !== 'viewer' ? html`<p><a role="button" href="${paymentPath(payment)}">Assign or resolve…</a></p>` : nothing}
${events.length === 0 ? nothing : html`<ol>${events.map(one => html`<li>${formats.time(one.received_at)} event in ${one.source}</li>`)}</ol>`}`
}

const callbackItem = ({ callback_id, type, state, attempts, last_error }: CallbackEntry): Html =>
  html`callback <a href="${callbackPath(callback_id)}">${type}</a> ${callbackState(state)} <small>${attempts} attempts ${last_error}</small>`

const actionItem = ({ subject, ...action }: ActionEntry): Html =>
  html`${actionInWords(action)} <small>${subject}</small>`
