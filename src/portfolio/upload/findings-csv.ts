import { sql } from 'kysely'
import { asCsv, BOM } from '../../csv/as-csv.ts'
import { REASON } from '../../csv/column.ts'
import { escapeFormula } from '../../csv/formula.ts'
import type { FileType } from '../../csv/reading/file-type.ts'
import type { Database } from '../../database/database.ts'
import {
  cellsAsUploaded,
  type FileLayout,
  type UploadedRow,
  uploadedRows,
} from '../uploaded-rows.ts'

const COLUMNS = ['line', 'stage', 'finding', REASON]
const STAGES: Record<string, string> = { invalid: 'upload', failed: 'run', stopped: 'run' }
const BAD_FINDINGS = ['differs', 'refused', 'unknown']

/** A dry run's finding is settled once its row is done. */
const isWrong = sql`(state = any(${Object.keys(STAGES)}) or finding = any(${BAD_FINDINGS}) and state <> 'done')`

/** A list to read, with a line for each stage that found something; to correct rows, there is the errors file. */
export const findingsType: FileType = {
  title: 'a list of findings',
  remedy: 'remove its columns line, stage and finding, or correct the rows in errors.csv',
  isHeader: columns => COLUMNS.every((name, at) => columns[at] === name),
}

/** Everything that is wrong with the rows, whichever stage found it. */
export async function* findingsCsv(db: Database, layout: FileLayout): AsyncGenerator<string> {
  const { id, delimiter } = layout
  const { columns, cellsOf } = cellsAsUploaded(layout)
  yield BOM + asCsv([[...COLUMNS, ...columns]], delimiter)
  for await (const rows of uploadedRows(db, id, isWrong)) {
    const lines = rows.flatMap(row => {
      const cells = cellsOf(row)
      return findingsOf(row).map(({ stage, finding, reason }) => [
        ...[String(row.line), stage, finding, escapeFormula(reason ?? '')],
        ...cells,
      ])
    })
    yield asCsv(lines, delimiter)
  }
}

function findingsOf({ state, reason, finding, finding_reason }: UploadedRow) {
  const stage = STAGES[state]
  const ofState = stage === undefined ? [] : [{ stage, finding: state, reason }]
  if (finding === null || !BAD_FINDINGS.includes(finding)) return ofState
  return [{ stage: 'dry_run', finding, reason: finding_reason }, ...ofState]
}
