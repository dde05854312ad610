import { html } from 'hono/html'
import type { AttemptItem } from '../../operations/reading/operation-record.ts'
import type { Formats } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { column, idColumn, numberColumn, timeColumn } from '../lists/list.ts'
import { table } from '../lists/table.ts'
import { words } from '../text/words.ts'

/** Attempts to post a payment are shown without the call and how often it was made. */
type Shown = Omit<AttemptItem, 'times' | 'method' | 'path'> & Partial<AttemptItem>

export function attemptsTable(attempts: Shown[], formats: Formats): Html {
  const columns = [
    numberColumn('attempt', 'Attempt'),
    numberColumn('times', 'Times'),
    timeColumn(formats, 'started_at', 'Began'),
    timeColumn(formats, 'ended_at', 'Ended'),
    idColumn('path', 'Call', (row: Shown) => [row.method, row.path].filter(Boolean).join(' ')),
    numberColumn('http_status', 'Status'),
    column('outcome', 'Outcome', (row: Shown) => words(row.outcome ?? 'under_way')),
  ]
  const known = columns.filter(({ name }) => attempts.some(one => name in one))
  return html`<h2>Attempts at the ledger</h2>${table(known, attempts, 'Attempts at the ledger')}`
}
