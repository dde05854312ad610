import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { type Html, nothing } from './html.ts'

const DONE = {
  paused:
    'You paused writes to the ledger. Operations already under way may still start a write for up to two seconds.',
  resumed: 'You resumed writes to the ledger.',
  resolved:
    'Your decision is recorded. An operation is looked up in the ledger first; what is found there takes precedence.',
  cancelled: 'The operation has been cancelled.',
  runCancelled: 'The run has been cancelled. Rows that may be at the ledger are completed.',
  assigned: 'The payment is assigned; the next batch posts it.',
  proposed: 'Sent for approval. Nothing happens until somebody else approves it, under Approvals.',
  approved: 'You approved it, and it is done or has begun.',
  rejected: 'You rejected it. Nothing is done.',
  takenBack: 'You withdrew it. Nothing is done.',
  decided: 'Your decision on the payment is recorded.',
  noted: 'The note is saved.',
  checked: 'The payment has been compared with the ledger.',
  ledgerChecked: 'The ledger’s set-up has been checked, and what waited for it is tried again.',
  batch: 'A batch has been requested. It starts now, or when the running one ends.',
  uploaded: 'The file has been uploaded and its rows checked.',
  started: 'The run has started.',
  dryRunStarted: 'The dry run has started. It only reads.',
  retried: 'Rows that failed, were stopped or have not run are processed now.',
  discarded: 'The file and its rows have been removed.',
  callbacksResumed: 'You resumed callbacks: none is held back by an earlier 410.',
  resent: 'The callback will be sent again.',
  replayed: 'The callbacks will be sent again.',
  replayedInPart:
    'Ten seconds were not enough for all: the first callbacks will be sent again. Replay this list to send the rest.',
  registered: 'The account has been created and can log in.',
  unlocked: 'The account is unlocked: it can log in at once.',
  password: 'Your password is changed. Your other sessions and tokens have ended.',
  ended: 'Your other sessions and tokens have ended.',
  disabled: 'The account is permanently disabled, and its sessions have ended.',
  requeued: 'The jobs are back in their queue.',
  reread: 'The next batch reprocesses these events.',
  rereadNone:
    'Since then, the source has no event that can be read again: nothing changes. What was read, booked or decided is left as it is.',
  withdrawn: 'The report is withdrawn with its rows.',
  referenceAdded: 'The reference is registered; the next batch matches what waits for it.',
  referenceRemoved: 'The reference is removed with all its periods.',
  referencesUploaded: 'The references of the file are registered.',
  fetching: 'The fetch has been requested.',
} as const

export const DoneField = Type.Optional(oneOf(Object.keys(DONE)))
export const DoneQuery = only({ done: DoneField })
export type DoneKey = keyof typeof DONE

export function doneNotice(done: string | undefined): Html {
  const text = DONE[done as DoneKey]
  return text === undefined ? nothing : html`<p class="notice" role="status">${text}</p>`
}

export function donePath(path: string, done: DoneKey): string {
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`
}
