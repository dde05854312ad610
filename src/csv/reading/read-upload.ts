import type { OwnKind } from '../column.ts'
import { roundedIds } from '../damaged-ids.ts'
import { type CsvFields, fieldsOf } from '../fields.ts'
import { unescapeFormula } from '../formula.ts'
import { decode } from './decode.ts'
import { type FileType, refuseOtherTypes } from './file-type.ts'
import { type CsvRow, columnsOf } from './header.ts'
import { readCsv } from './read-csv.ts'
import { isUnsettled, type RowShape, rowFitter } from './row-fit.ts'
import { noRows } from './unreadable-file.ts'

export type UploadPlace = {
  kind: OwnKind
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
  let shape: RowShape
  let count = 0
  const fitRow = rowFitter()
  const roundedIn = roundedIds<Omit<UploadRow, 'rounded'>>(kind.ids)
  await readCsv(decode(bytes), {
    async header(header, separator) {
      refuseOtherTypes(header.cells, `a file of ${kind.type}`, others)
      const columns = columnsOf(header, kind, templateUrl)
      shape = shapeOf(kind, columns, header.cells.length, separator)
      await reader.header?.(columns, separator)
    },
    read(batch, isLast) {
      count += batch.length
      const rows = batch.map(row => ({ line: row.line, ...fitted(row) }))
      return roundedIn(rows, isLast).map(reader.check)
    },
    save: reader.save,
  })
  if (count === 0) throw noRows()
  return count

  function fitted(row: CsvRow) {
    const { cells, misfit } = fitRow({ ...row, cells: row.cells.map(unescapeFormula) }, shape)
    const fields = misfit === null ? fieldsOf(shape.columns, cells) : {}
    return isUnsettled(fields.reason)
      ? { cells, misfit: fields.reason as string, fields: {} }
      : { cells, misfit, fields }
  }
}

function shapeOf(
  { columns: known, patterns }: OwnKind,
  columns: string[],
  width: number,
  delimiter: string,
): RowShape {
  const needed = known.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return { columns, width, delimiter, needed, filled: needed, patterns }
}
