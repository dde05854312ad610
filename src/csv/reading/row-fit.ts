import { trimmed } from '../../text/trimmed.ts'
import { isEmpty, misfitOf, withoutEmptyEnd } from '../fields.ts'
import type { CsvRow } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

export type RowShape = {
  columns: string[]
  /** The number of the header's cells, with the empty ones at its end. */
  width: number
  delimiter: string
  /** The columns that a row must reach. */
  needed: string[]
  /** The columns with numbers, in which a comma may stand between digits. */
  numbers: string[]
  days: string[]
}

const NAMES: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' }
/** The cells that a comma makes of a number without quotes: it may separate thousands, lakhs or decimals. */
const HEAD = /^-?\d+$/
const TAIL = /^(?!0$)\d{1,3}(?!\d)/
/** The head and tail of an amount with decimals; a reference or note beside such a number is not written so. */
const SURE_HEAD = /^-?\d{1,3}$/
const SURE_TAIL = /^\d{3}\.\d\d$/
/** An errors file adds the cells that a row lacks, so that the row would look sound when the file comes back. */
const REMOVE = 'and then remove this reason'
const CUT_OFF = `the file ends within this row, and may have been cut off: upload the whole file, or complete the row, ${REMOVE}`

/**
 * Empty cells at the end of a row are no data, and a row may end before them. A comma in a number without quotes adds a
 * cell, which must not hide there: the amount would be read as its first digits.
 */
export function rowFitter() {
  let other: string | undefined
  let doubt: string | undefined

  return ({ line, cells: came, isUnended }: CsvRow, shape: RowShape) => {
    const { columns, width, delimiter } = shape
    const cells = withoutEmptyEnd(came, columns.length)
    const wrong = wrongCount(cells, shape) ?? null
    const isShort = wrong === null && came.length < width
    const split = delimiter === ',' ? splitNumber(came, shape) : undefined
    const isWide = cells.length > columns.length
    if (delimiter === ',' && came.length !== width && (wrong === null || isWide))
      other ??= `the row of line ${line} has ${came.length} cells, and the header has ${width}`
    if (came.length === width && split !== undefined) doubt ??= `Line ${line}: ${split.text}`
    if (doubt !== undefined && other !== undefined)
      throw new UnreadableFile(
        `${doubt}, because ${other}: put quotes around each number with a comma, and give each row as many cells as the header`,
      )
    if (wrong !== null) return { cells, misfit: wrong }
    if (isShort && isUnended) return { cells, misfit: CUT_OFF }
    if (came.length !== width && split !== undefined)
      return {
        cells,
        misfit: `${split.text}, because the row has ${came.length} cells, and the header has ${width}: write the row with ${width} cells and a number with a comma in quotes, ${REMOVE}`,
      }
    if (split?.isSure)
      return { cells, misfit: `${split.text}: put quotes around a number with a comma` }
    return { cells, misfit: misfitOf(cells, columns, delimiter) }
  }
}

/** Whether the row of an errors file still has a reason that only a person can settle. */
export const isUnsettled = (reason: string | undefined) => reason?.includes(REMOVE) === true

function wrongCount(cells: string[], { columns, needed, delimiter }: RowShape): string | undefined {
  const counts = `the row has ${cells.length} cells, but the header has ${columns.length} columns`
  if (cells.length > columns.length)
    return `${counts}: put quotes around a cell that contains a ${NAMES[delimiter]}`
  return columns.slice(cells.length).some(name => needed.includes(name))
    ? `${counts}: end it with the delimiters of its empty cells`
    : undefined
}

/** A number that may go on in the next cell, and what it may be. Nothing before a day has shifted, if the day is in its place. */
function splitNumber(cells: string[], { columns, numbers, days }: RowShape) {
  for (const [at, name] of columns.entries()) {
    if (!numbers.includes(name)) continue
    const head = trimmed(cells[at] ?? '')
    const tail = trimmed(cells[at + 1] ?? '')
    if (!HEAD.test(head) || !TAIL.test(tail)) continue
    const day = columns.findIndex((column, i) => i > at && days.includes(column))
    if (day !== -1 && !isEmpty(cells[day])) continue
    const isSure =
      SURE_HEAD.test(head) && SURE_TAIL.test(tail) && !numbers.includes(columns[at + 1] ?? '')
    return { isSure, text: `${name || `column ${at + 1}`} may be ${head},${tail}` }
  }
  return undefined
}
