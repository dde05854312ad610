import { trimmed } from '../../text/trimmed.ts'
import { DAY, NUMBER, type OwnKind } from '../column.ts'
import { isEmpty, withoutEmptyEnd } from '../fields.ts'
import type { CsvRow } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

export type RowShape = {
  columns: string[]
  /** The number of the header's cells, with the empty ones at its end. */
  width: number
  delimiter: string
  /** The columns that a row must reach. */
  needed: string[]
  /** The columns that are empty in no row. */
  filled: string[]
  patterns: OwnKind['patterns']
}

const NAMES: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' }
const DIGIT = /\d/
/** Digits without a point between them. */
const WHOLE = /^\D*\d+\D*$/
/** Separators of thousands, or of lakhs. */
const GROUPED = /^-?(\d{1,3}(,\d{3})+|\d{1,2}(,\d{2})*,\d{3})(\.\d+)?(\/-)?$/
/** A comma for the decimals, after which databases write zeros. Between two columns of numbers it is none: a fee and its tax look the same. */
const DECIMAL_COMMA = /^-?\d+,(\d|\d\d(00){0,2})$/
/** A day that no part of an amount, such as `050/-`, looks like. */
const WRITTEN_DAY = /^\d{1,4}[-/]\w/
/** `1,23,45,678.00`: an amount has no more groups. */
const MAX_CELLS_OF_A_NUMBER = 4
/** An errors file adds the cells that a row lacks, so that the row would look sound when the file comes back. */
const REMOVE = 'and then remove this reason from the file, if it has it'
const CUT_OFF = `the file ends within this row, and may have been cut off: upload the whole file, or complete the row, ${REMOVE}`

/**
 * Empty cells at the end of a row are no data, and a row may end before them. A comma in a number without quotes adds a
 * cell, which must not hide there: the amount would be read as its first digits.
 */
export function rowFitter() {
  let doubt: string | undefined
  let proof: string | undefined

  return ({ line, cells: came, isUnended }: CsvRow, shape: RowShape) => {
    const { columns, width, delimiter } = shape
    const cells = withoutEmptyEnd(came, columns.length)
    const wrong = wrongCount(cells, shape)
    const isShort = wrong === undefined && cells.length < columns.length
    const isCutOff = isUnended === true && cells.length < columns.length
    const split = delimiter === ',' ? splitNumber(came, shape) : undefined
    const isSplit = split !== undefined && (came.length !== width || split.isSure)
    const counts = `the row has ${came.length} cells, and the header has ${width}`
    const misfit =
      (isCutOff ? CUT_OFF : undefined) ??
      wrong ??
      (isSplit ? `${split.text}: ${counts}. ${advice(width)}, ${REMOVE}` : undefined) ??
      misfitOf(cells, shape)
    if (delimiter === ',' && (isShort || isSplit || cells.length > columns.length))
      proof ??= `line ${line}: ${counts}`
    if (split !== undefined && misfit === null) doubt ??= `Line ${line}: ${split.text}`
    if (doubt !== undefined && proof !== undefined)
      throw new UnreadableFile(`${doubt}, because of ${proof}. ${advice(width)}`)
    return { cells, misfit }
  }
}

const advice = (width: number) =>
  `Write each number without separators and with a point before any decimals, and ${width} cells in each row`

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

const LINE_BREAK = /[\r\n]/

function misfitOf(cells: string[], shape: RowShape): string | null {
  const { columns } = shape
  const withNul = cells.findIndex(cell => cell.includes('\0'))
  if (withNul !== -1) return `${columns[withNul]} contains a NUL character`
  const withRows = cells.findIndex((_, at) => hasRows(cells, at, shape))
  return withRows === -1
    ? null
    : `column ${withRows + 1} goes on over the cells of other rows: a quote begins it, and the next one ends it. Remove the quote, or write the cell in one line`
}

/**
 * A stray quote takes the rows up to the next one into its cell: nobody would miss them. The cell has the rest of its own
 * row, which may end early or in empty cells, and the beginning of the row in which it ends, perhaps in another column.
 */
function hasRows(cells: string[], at: number, shape: RowShape): boolean {
  if (!LINE_BREAK.test(cells[at] ?? '')) return false
  const [first = '', ...others] = (cells[at] ?? '').split(LINE_BREAK)
  const beginning = others.at(-1)?.split(shape.delimiter) ?? []
  const ownRow = [...cells.slice(0, at), ...first.split(shape.delimiter)]
  const isRow = wrongCount(withoutEmptyEnd(ownRow, shape.columns.length), shape) === undefined
  return isRow && (beginning.length === at + 1 || fits(beginning, shape))
}

/** The number that the cells of several columns may be, if the rest of the row fits its columns then, too. */
function splitNumber(came: string[], shape: RowShape) {
  for (const [at, name] of shape.columns.entries()) {
    // Few cells get beyond this: it is asked of each row of a file.
    if (!isOfNumbers(name, shape) || !WHOLE.test(came[at] ?? '')) continue
    // Behind the last column that is read, nothing can have moved.
    if (shape.columns.slice(at).every(column => column === '')) break
    if (hasDayBehind(came, at, shape)) continue
    const isBesideNumbers = isOfNumbers(shape.columns[at + 1], shape)
    let number = trimmed(came[at] ?? '')
    for (let next = at + 1; next < at + MAX_CELLS_OF_A_NUMBER; next++) {
      const cell = came[next]
      if (cell === undefined || !DIGIT.test(cell)) break
      number += `,${trimmed(cell)}`
      const isNumber = GROUPED.test(number) || (DECIMAL_COMMA.test(number) && !isBesideNumbers)
      if (isNumber && fits(came.toSpliced(at, next - at + 1, number), shape))
        return {
          text: `${name || `column ${at + 1}`} may be ${number}`,
          // A text beside a number is not written so.
          isSure: number.includes('.') && !isBesideNumbers,
        }
    }
  }
  return undefined
}

/** Whether the next column of days has one: nothing before it has moved. */
function hasDayBehind(cells: string[], at: number, { columns, patterns }: RowShape): boolean {
  const next = columns.findIndex((name, column) => column > at && patterns[name] === DAY)
  return WRITTEN_DAY.test(trimmed(cells[next] ?? ''))
}

/** A column that is ignored may have numbers, too. */
const isOfNumbers = (name = '', { patterns }: RowShape) => name === '' || patterns[name] === NUMBER

function fits(cells: string[], { columns, needed, filled, patterns }: RowShape): boolean {
  return columns.every((name, at) => {
    const cell = cells[at]
    if (cell === undefined && needed.includes(name)) return false
    if (isEmpty(cell) && filled.includes(name)) return false
    return patterns[name]?.test(trimmed(cell ?? '')) ?? true
  })
}
