import type { FileKind } from '../column.ts'
import { roundedIds } from '../damaged-ids.ts'
import { type CsvFields, fieldsOf, misfitOf, withoutEmptyEnd } from '../fields.ts'
import { unescapeFormula } from '../formula.ts'
import { decode } from './decode.ts'
import { type FileType, refuseOtherTypes } from './file-type.ts'
import { columnsOf } from './header.ts'
import { readCsv } from './read-csv.ts'
import { noRows } from './unreadable-file.ts'

export type UploadPlace = {
  kind: FileKind
  /** The types of files that may be uploaded by mistake. */
  others: FileType[]
  /** Where the caller finds the template. */
  templateUrl: string
}

export type UploadRow = {
  line: number
  cells: string[]
  /** Empty in a row that does not fit its header. */
  fields: CsvFields
  misfit: string | null
  /** The errors of ids that only the other rows show to be rounded. */
  rounded: string[]
}

type Reader<Row> = {
  header?(columns: string[], delimiter: string): Promise<void>
  check(row: UploadRow): Row
  save(batch: Row[]): Promise<void>
}

/**
 * Reads a file that has the columns of its kind.
 * @returns the number of its rows
 * @throws UnreadableFile
 */
export async function readUpload<Row>(
  bytes: AsyncIterable<Buffer>,
  { kind, others, templateUrl }: UploadPlace,
  reader: Reader<Row>,
): Promise<number> {
  let columns: string[] = []
  let delimiter = ''
  let count = 0
  const roundedIn = roundedIds<Omit<UploadRow, 'rounded'>>(kind.ids)
  await readCsv(decode(bytes), {
    async header(header, separator) {
      delimiter = separator
      refuseOtherTypes(header.cells, `a file of ${kind.type}`, others)
      columns = columnsOf(header, kind, templateUrl)
      await reader.header?.(columns, separator)
    },
    read(batch, isLast) {
      count += batch.length
      const rows = batch.map(({ line, cells }) => ({ line, ...fitted(cells, columns, delimiter) }))
      return roundedIn(rows, isLast).map(reader.check)
    },
    save: reader.save,
  })
  if (count === 0) throw noRows()
  return count
}

/** Empty columns at the end are dropped in every file, because an errors file may come back without its reasons. */
function fitted(came: string[], columns: string[], delimiter: string) {
  const cells = withoutEmptyEnd(came, columns.length).map(unescapeFormula)
  const misfit = misfitOf(cells, columns, delimiter)
  return { cells, misfit, fields: misfit === null ? fieldsOf(columns, cells) : {} }
}
