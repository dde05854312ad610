import type { FastifyRequest } from 'fastify'
import { askerOf } from '../../accounts/actor.ts'
import { type Asker, auditAlone } from '../../accounts/audit.ts'
import type { Config } from '../../config/config.ts'
import { decode } from '../../csv/decode.ts'
import { fieldsOf, misfitOf, withoutEmptyEnd } from '../../csv/fields.ts'
import { type FileType, refuseOtherTypes } from '../../csv/file-type.ts'
import { unescapeFormula } from '../../csv/formula.ts'
import { columnsOf } from '../../csv/header.ts'
import { readCsv } from '../../csv/read-csv.ts'
import type { CsvRow } from '../../csv/row-batches.ts'
import { noRows } from '../../csv/unreadable-file.ts'
import type { Database } from '../../database/database.ts'
import { takeFile, type UploadedFile } from '../../http/multipart.ts'
import { Conflict } from '../../http/problem.ts'
import { lockAllReferences } from './lock-references.ts'
import { belongsTo } from './put-reference.ts'
import { checkRow, REFERENCE_LIMIT, referenceFile } from './reference-file.ts'
import type { NewReference } from './reference-record.ts'
import { saveReferences } from './save-references.ts'

/** A batch takes some 50 ms, in which other changes wait. */
const BATCH_SIZE = { rows: 1_000, bytes: 256 * 1024 }
const MAX_LISTED = 100

type Line = { line: number; reference: NewReference }
type Refused = { line: number; reason: string }
type Place = { others: FileType[]; templateUrl: string }

type Context = {
  db: Database
  config: Pick<Config, 'APPROVALS'>
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
}

/**
 * Saves each valid row as a call of its own would, in the order of the file; repeating the upload changes nothing.
 * @throws Conflict where a reference needs approval: a file may be larger than what a proposal can have
 */
export function uploadReferences(
  { db, config, fileTypes }: Context,
  request: FastifyRequest,
  templateUrl: string,
) {
  if (config.APPROVALS.some(({ act }) => act === 'reference.write'))
    throw new Conflict(
      'A second person must approve each reference, and a file cannot be proposed: register them one by one',
    )
  const others = [...fileTypes.portfolio, ...fileTypes.statements]
  return takeFile(request, [], REFERENCE_LIMIT, file =>
    saveFile(db, { others, templateUrl }, file, askerOf(request)),
  )
}

async function saveFile(
  db: Database,
  { others, templateUrl }: Place,
  file: UploadedFile,
  asker: Asker,
) {
  const counts = { rows: 0, valid_rows: 0, invalid_rows: 0 }
  const errors: Refused[] = []
  let columns: string[] = []
  try {
    await readCsv(decode(file.bytes), BATCH_SIZE, {
      async header(header) {
        refuseOtherTypes(header.cells, 'a file of references', others)
        columns = columnsOf(header, referenceFile, templateUrl)
      },
      async rows(batch) {
        counts.rows += batch.length
        const refused: Refused[] = []
        const lines = batch.flatMap(row => lineOf(row, columns, refused))
        refused.push(...(await keep(db, lines, asker)))
        refused.sort((a, b) => a.line - b.line)
        counts.invalid_rows += refused.length
        counts.valid_rows += batch.length - refused.length
        errors.push(...refused.slice(0, MAX_LISTED - errors.length))
      },
    })
    if (counts.rows === 0) throw noRows()
  } finally {
    // The rows before an interruption of a file are saved, too.
    const entry = { ...asker, action: 'reference.upload', subject: file.name ?? 'file' }
    if (counts.valid_rows > 0) await auditAlone(db, { ...entry, detail: counts })
  }
  return { ...counts, errors }
}

function lineOf({ line, cells: came }: CsvRow, columns: string[], refused: Refused[]): Line[] {
  const cells = withoutEmptyEnd(came, columns.length).map(unescapeFormula)
  const misfit = misfitOf(cells, columns)
  const checked = misfit === null ? checkRow(fieldsOf(columns, cells)) : { errors: [misfit] }
  if ('reference' in checked && checked.errors.length === 0)
    return [{ line, reference: checked.reference }]
  refused.push({ line, reason: checked.errors.join('; ') })
  return []
}

function keep(db: Database, lines: Line[], { actor }: Asker): Promise<Refused[]> {
  return db.transaction().execute(async trx => {
    await lockAllReferences(trx)
    const refused: Refused[] = []
    for (let left = lines; left.length > 0; ) {
      const references = left.map(({ reference }) => reference)
      const outcomes = await saveReferences(trx, references, actor)
      const later: Line[] = []
      for (const [i, { other, is_later }] of outcomes.entries()) {
        const one = left[i] as Line
        if (is_later) later.push(one)
        else if (other !== null) refused.push({ line: one.line, reason: belongsTo(other) })
      }
      left = later
    }
    return refused
  })
}
