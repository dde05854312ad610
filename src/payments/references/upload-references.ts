import { type Asker, auditAlone } from '../../accounts/audit.ts'
import { decode } from '../../csv/decode.ts'
import { fieldsOf, misfitOf, withoutEmptyEnd } from '../../csv/fields.ts'
import { type FileType, refuseOtherTypes } from '../../csv/file-type.ts'
import { unescapeFormula } from '../../csv/formula.ts'
import { columnsOf } from '../../csv/header.ts'
import { readCsv } from '../../csv/read-csv.ts'
import type { CsvRow } from '../../csv/row-batches.ts'
import { noRows } from '../../csv/unreadable-file.ts'
import type { Database } from '../../database/database.ts'
import type { UploadedFile } from '../../http/multipart.ts'
import { lockAllReferences } from './lock-references.ts'
import { belongsTo } from './put-reference.ts'
import { checkRow, referenceFile } from './reference-file.ts'
import type { NewReference } from './reference-record.ts'
import { storeReferences } from './store-references.ts'

/** Some 50 ms of work: other changes wait meanwhile. */
const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }
const MAX_LISTED = 100

type Line = { line: number; reference: NewReference }
type Place = { others: FileType[]; templateUrl: string }

/** Stores each valid row as a call of its own would, in the order of the file; repeating it changes nothing. */
export async function uploadReferences(
  db: Database,
  { others, templateUrl }: Place,
  file: UploadedFile,
  asker: Asker,
) {
  const result = { rows: 0, valid_rows: 0, invalid_rows: 0, errors: [] as Refused[] }
  let columns: string[] = []
  try {
    await readCsv(decode(file.bytes), BATCH_SIZE, {
      async header(header) {
        refuseOtherTypes(header.cells, 'a file of references', others)
        columns = columnsOf(header, referenceFile, templateUrl)
      },
      async rows(batch) {
        result.rows += batch.length
        const refused: Refused[] = []
        const lines = batch.flatMap(row => lineOf(row, columns, refused))
        for (const round of inRounds(lines)) refused.push(...(await keep(db, round, asker)))
        refused.sort((a, b) => a.line - b.line)
        result.invalid_rows += refused.length
        result.valid_rows += batch.length - refused.length
        result.errors.push(...refused.slice(0, MAX_LISTED - result.errors.length))
      },
    })
    if (result.rows === 0) throw noRows()
  } finally {
    // An interrupted file has stored its first rows, too.
    if (result.valid_rows > 0) await note(db, result, file, asker)
  }
  return result
}

type Refused = { line: number; reason: string }

function lineOf({ line, cells: came }: CsvRow, columns: string[], refused: Refused[]): Line[] {
  const cells = withoutEmptyEnd(came, columns.length).map(unescapeFormula)
  const misfit = misfitOf(cells, columns)
  const checked = misfit === null ? checkRow(fieldsOf(columns, cells)) : { errors: [misfit] }
  if ('reference' in checked && checked.errors.length === 0)
    return [{ line, reference: checked.reference }]
  refused.push({ line, reason: checked.errors.join('; ') })
  return []
}

/** Lines with the same value, whatever its case, come one after the other. */
function inRounds(lines: Line[]): Line[][] {
  const rounds: Line[][] = []
  const times = new Map<string, number>()
  for (const one of lines) {
    const { gateway, kind, value } = one.reference
    const key = `${gateway} ${kind} ${value.toLowerCase()}`
    const time = times.get(key) ?? 0
    times.set(key, time + 1)
    rounds[time] = [...(rounds[time] ?? []), one]
  }
  return rounds
}

function keep(db: Database, lines: Line[], { actor }: Asker): Promise<Refused[]> {
  return db.transaction().execute(async trx => {
    await lockAllReferences(trx)
    const stored = await storeReferences(
      trx,
      lines.map(({ reference }) => reference),
      actor,
    )
    return lines.flatMap(({ line }, i) => {
      const other = stored[i]?.other ?? null
      return other === null ? [] : [{ line, reason: belongsTo(other) }]
    })
  })
}

type Counts = { rows: number; valid_rows: number; invalid_rows: number }

function note(
  db: Database,
  { rows, valid_rows, invalid_rows }: Counts,
  file: UploadedFile,
  asker: Asker,
) {
  const detail = { rows, valid_rows, invalid_rows }
  return auditAlone(db, {
    ...asker,
    action: 'reference.upload',
    subject: file.name ?? 'file',
    detail,
  })
}
