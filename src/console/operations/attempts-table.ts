import { html } from 'hono/html'
import type { Formats } from '../frame/formats.ts'
import type { Html } from '../frame/html.ts'
import { numberColumn } from '../lists/number-column.ts'
import { table } from '../lists/table.ts'
import { timeColumn } from '../lists/time-column.ts'
import { words } from '../text/words.ts'

type Attempt = {
  attempt: number
  times?: number
  started_at: string
  ended_at: string | null
  method?: string | null
  path?: string | null
  http_status: number | null
  outcome: string | null
}

export function attemptsTable(attempts: Attempt[], formats: Formats): Html {
  if (attempts.length === 0)
    return html`<p class="hint">Nothing has been tried at the ledger yet.</p>`
  const columns = [
    numberColumn('attempt', 'Attempt'),
    numberColumn('times', 'Times'),
    timeColumn(formats, 'started_at', 'Began'),
    timeColumn(formats, 'ended_at', 'Ended'),
    {
      name: 'path',
      title: 'Call',
      isId: true,
      cell: (row: Attempt) => [row.method, row.path].filter(Boolean).join(' '),
    },
    numberColumn('http_status', 'Status'),
    {
      name: 'outcome',
      title: 'Outcome',
      cell: (row: Attempt) => words(row.outcome ?? 'under_way'),
    },
  ]
  return html`<h2>Attempts at the ledger</h2>${table(columns, attempts, 'Attempts at the ledger')}`
}
