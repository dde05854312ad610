import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { oneOf } from '../../http/fields.ts'
import { type Html, nothing } from './html.ts'

/** What a form has done, by the word that it leaves in the URL of the page to which it leads. */
const DONE = {
  paused:
    'Writes at the ledger are paused. What is under way may still end; it takes up to two seconds.',
  resumed: 'It goes on.',
  resolved:
    'Your decision is recorded. An operation is looked up at the ledger first; what is found there takes precedence.',
  cancelled: 'It is cancelled.',
  assigned: 'The payment is assigned, and the next batch posts it.',
  decided: 'Your decision about the payment is recorded.',
  noted: 'The note is saved.',
  checked: 'The payment has been compared with the ledger.',
  batch: 'A batch has been requested. It starts at once, or when the running one ends.',
  uploaded: 'The file has arrived, and its rows are checked.',
  started: 'It has started.',
  discarded: 'The file and its rows are removed.',
  resent: 'It will be sent again.',
  replayed: 'They will be sent again.',
  registered: 'The account exists, and can log in.',
  disabled: 'The account is disabled, and its logins have ended.',
  fetching: 'The fetch has been requested.',
} as const

export const DoneQuery = Type.Optional(oneOf(Object.keys(DONE)))
export type Done = keyof typeof DONE

export function doneNotice(done: string | undefined): Html {
  const text = DONE[done as Done]
  return text === undefined ? nothing : html`<p class="notice" role="status">${text}</p>`
}

/** Where a form leads once it is done. */
export function donePath(path: string, done: Done): string {
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`
}
