import { html } from 'hono/html'
import type { operationWithAttempts } from '../../operations/reading/find-operations.ts'
import type { Formats } from '../frame/formats.ts'
import { facts, type Html, link, linked, nothing } from '../frame/html.ts'
import { operationPath, subjectPath } from '../frame/paths.ts'
import { statusOf, utc } from './operations-page.ts'
import { WAYS_OUT } from './ways-out.ts'

export type ShownOperation = Awaited<ReturnType<typeof operationWithAttempts>>

export function operationFacts(operation: ShownOperation, formats: Formats): Html {
  const { tracking_id, operation_type, external_id, predecessor, waiting_for } = operation
  const wayOut = waiting_for === null ? undefined : WAYS_OUT[waiting_for]
  return html`${facts([
    ['Status', statusOf(operation)],
    ['Why it waits', wayOut ?? null],
    ['Waits for', linked(predecessor, operationPath)],
    ['Next try', formats.time(operation.next_try_at)],
    ['Error', operation.error_message],
    ['Error code', operation.error_code],
    ['Last error', operation.last_error],
    ['Tracking id', tracking_id],
    ['Loan or client', link(subjectPath(operation_type, external_id), external_id)],
    ['Accepted', formats.time(operation.accepted_at)],
    ['Ended', formats.time(utc(operation.processed_at))],
    ['Origin', operation.origin],
    ['Actor', operation.actor],
    ['Caller', operation.caller],
    ['Address', operation.address],
    ['Request', operation.request_id],
    ['Ignored members', operation.ignored?.join(', ') ?? null],
  ])}
${json('Request', operation.data)}
${json('The ledger’s response', operation.success_response ?? operation.failure_response)}`
}

function json(title: string, value: object | null): Html {
  if (value === null) return nothing
  return html`<details><summary>${title}</summary><pre tabindex="0">${JSON.stringify(value, null, 2)}</pre></details>`
}
