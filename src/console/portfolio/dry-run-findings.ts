import { html } from 'hono/html'
import type { DryRun } from '../../portfolio/migration-record.ts'
import { count, ofAll } from '../frame/formats.ts'
import { type Html, nothing } from '../frame/html.ts'
import { column, idColumn, numberColumn } from '../lists/columns.ts'
import { table } from '../lists/table.ts'

export function dryRunFindings(dryRun: DryRun | null): Html {
  if (dryRun === null) return nothing
  const { findings, would_change, in_ledger, differs, refused, unknown } = dryRun
  const columns = [
    numberColumn('line', 'Line'),
    idColumn('external_loan_id', 'Loan'),
    column('finding', 'Finding'),
    idColumn('reason', 'Reason'),
  ]
  return html`<h2>What the dry run found</h2>
<dl class="figures box">
<dt>would be written</dt><dd>${count(would_change)}</dd>
<dt>already at the ledger</dt><dd>${count(in_ledger)}</dd>
<dt>differ at the ledger</dt><dd>${count(differs)}</dd>
<dt>would be refused</dt><dd>${count(refused)}</dd>
<dt>could not be read</dt><dd>${count(unknown)}</dd>
</dl>
${
  findings.length === 0
    ? html`<p class="good">No row differs or would be refused.</p>`
    : html`<p>${ofAll(findings.length, differs + refused + unknown)} findings are shown.</p>
${table(columns, findings, 'Findings of the dry run')}`
}`
}
