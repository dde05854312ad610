import { type Static, Type } from '@sinclair/typebox'
import { InvalidRow } from '../csv/invalid-row.ts'
import { fileFields } from '../http/fields/file-facts.ts'
import { NullableText, nullable, oneOf, titled } from '../http/fields/schemas.ts'
import { checkedId } from '../http/fields/text-fields.ts'
import { kinds } from './kinds/kinds.ts'

export const MigrationId = checkedId('a migration id')
export const ofOneMigration = Type.Object({ id: MigrationId })

const Count = Type.Integer({ minimum: 0 })

export const MigrationTypeName = oneOf(kinds.map(({ type }) => type))
export const MigrationStatus = oneOf(['uploaded', 'running', 'completed', 'cancelled'])

const Finding = titled('DryRunFinding', {
  line: Type.Integer(),
  external_loan_id: NullableText,
  finding: Type.String(),
  reason: NullableText,
})
const DryRunResult = titled('DryRun', {
  started_at: Type.String(),
  ended_at: Type.String(),
  would_change: Type.Integer({ description: 'rows that a run would write to the ledger' }),
  in_ledger: Type.Integer({
    description: 'rows that the ledger already has, with the same values',
  }),
  differs: Type.Integer({ description: 'rows that the ledger already has, with different values' }),
  refused: Type.Integer({
    description:
      'rows that the ledger would refuse, as far as reads can tell, and those that wait for one',
  }),
  unknown: Type.Integer({ description: 'rows of loans that could not be read' }),
  findings: Type.Array(Finding, {
    description:
      'the first hundred rows that differ, would be refused or are unknown; findings.csv has all of them',
  }),
})

const uploadedFile = {
  migration_id: Type.String(),
  type: MigrationTypeName,
  status: MigrationStatus,
  ...fileFields,
  rows: Count,
  valid_rows: Count,
  invalid_rows: Count,
}

export const MigrationItem = titled('Migration', {
  ...uploadedFile,
  done: Count,
  failed: Count,
  stopped: Type.Integer({
    description: 'rows not tried, because an earlier row of the same loan failed',
  }),
  uploaded_at: Type.String(),
  started_at: NullableText,
  ended_at: NullableText,
  is_dry_run: Type.Boolean({ description: 'whether the current or last run is a dry run' }),
  looked_at: Type.Integer({ description: 'rows that the last dry run has checked', minimum: 0 }),
  rate_per_second: nullable(
    Type.Number({
      description:
        'rows ended, or checked by a dry run, per second: over the last minute while it runs, over the whole run afterwards',
    }),
  ),
  estimated_end_at: NullableText,
  dry_run: nullable(DryRunResult),
})
export type MigrationRecord = Static<typeof MigrationItem>
export type DryRun = Static<typeof DryRunResult>

export const UploadedMigration = titled('UploadedMigration', {
  ...uploadedFile,
  errors: Type.Array(InvalidRow, {
    description: 'the first hundred invalid rows; errors.csv has all of them',
  }),
})
export const Started = titled('StartedMigration', {
  migration_id: Type.String(),
  status: MigrationStatus,
})
