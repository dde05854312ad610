import { html } from 'hono/html'
import type { DryRun } from '../../portfolio/migration-record.ts'
import { count } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { table } from '../lists/table.ts'

export function dryRunFindings(dryRun: DryRun | null): Html {
  if (dryRun === null) return nothing
  const { findings } = dryRun
  const columns = [
    { name: 'line', title: 'Line', isNumber: true },
    { name: 'external_loan_id', title: 'Loan', isId: true },
    { name: 'finding', title: 'Finding' },
    { name: 'reason', title: 'Reason', isId: true },
  ]
  return html`<h2>What the dry run found</h2>
<dl class="figures box">
<dt>would be written</dt><dd>${count(dryRun.would_change)}</dd>
<dt>already at the ledger</dt><dd>${count(dryRun.in_ledger)}</dd>
<dt>differ at the ledger</dt><dd>${count(dryRun.differs)}</dd>
<dt>would be refused</dt><dd>${count(dryRun.refused)}</dd>
<dt>could not be read</dt><dd>${count(dryRun.unknown)}</dd>
</dl>
${findings.length === 0 ? html`<p class="good">No row differs or would be refused.</p>` : table(columns, findings, 'Findings of the dry run')}`
}
