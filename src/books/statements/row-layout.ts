import { DAY, NUMBER } from '../../csv/column.ts'
import { type CsvFields, fieldsOf } from '../../csv/fields.ts'
import { unescapeFormula } from '../../csv/formula.ts'
import { placeholder } from '../../csv/made-up-values.ts'
import { ungrouped } from '../../csv/number-cell.ts'
import { type CsvRow, plainName } from '../../csv/reading/header.ts'
import { type RowShape, rowFitter } from '../../csv/reading/row-fit.ts'
import { noRows, otherHeader, UnreadableFile } from '../../csv/reading/unreadable-file.ts'
import type { PaymentStatus } from '../../payments/gateways/gateway-api.ts'
import { partNumbers } from '../../payments/gateways/items/part-numbers.ts'
import { type Format, inIndia, type ReadRow } from '../../payments/gateways/report-format.ts'
import {
  knownColumns,
  type Place,
  type ReportLayout,
  recognise,
  recogniseHeader,
} from './recognise.ts'
import { plainTime } from './time-cell.ts'

const TIMES = ['captured_at', 'event_time', 'settled_at']
const AMOUNTS = [
  ...['amount', 'fee', 'tax', 'fee_with_tax', 'debit', 'credit'],
  ...['event_amount', 'paid_out', 'amount_settled'],
]
const PATTERNS = {
  ...Object.fromEntries(TIMES.map(name => [name, DAY])),
  ...Object.fromEntries(AMOUNTS.map(name => [name, NUMBER])),
  currency: /^([a-z]{3})?$/i,
}

const ONLY_BEFORE =
  'The file has only the report’s section of settlements: upload it with the section of payments and its header below'

/** The meaning of the columns of a file; a report with two sections has two headers. */
export function rowLayout(place: Place) {
  let layout: ReportLayout
  let delimiter = ''
  const sections = sectionReader(knownColumns(place))
  const summary = summaryReader()
  const ignored: string[] = []
  const numbered = partNumbers()

  return {
    ignored,
    header(header: CsvRow, separator: string) {
      delimiter = separator
      enter(recogniseHeader(header, place), header)
    },
    shape: () => shapeOf(layout, delimiter),
    /** Whether the row belongs to a section before the payments, or is a header. */
    isBefore(row: CsvRow): boolean {
      const before = sections.beforePayments(row)
      if (before === undefined && !sections.mayBeHeader(row)) return false
      const next = recognise(row.cells, place)
      if (next !== undefined) enter(next, row)
      else if (before === undefined) return false
      else summary.note(before, row, shapeOf(before, delimiter))
      return true
    },
    noRows: sections.noRows,
    /** The payouts that the rows before the payments state, each once. */
    takePayouts: () => summary.payouts.splice(0),
    fieldsIn: (row: CsvRow) => fieldsIn(row, layout),
    statusFields: (fields: CsvFields) => layout.format.statusFields?.(fields) ?? {},
    read: (fields: CsvFields, status: PaymentStatus | null, file: number): ReadRow => ({
      ...toldApart(layout.format.read(fields, summary.settlements, status), numbered, file),
      isEvent: layout.format.kindField !== undefined,
    }),
    rowErrors: (fields: CsvFields) => rowErrors(layout, fields),
    /** The time of the row's payment: a refused row belongs to that day. */
    timeIn: ({ captured_at, event_time }: CsvFields) =>
      captured_at ?? (event_time && inIndia(event_time)),
    labelled: (reason: string) => labelled(layout, reason),
  }

  function enter(found: ReportLayout, header: CsvRow) {
    sections.enter(found, header)
    if (!found.format.isSummary) layout = found
    ignored.push(...found.ignored.filter(name => !ignored.includes(name)))
  }
}

/** Each report with the header of the first one begins as that one does. @param known columns with which others may begin */
function sectionReader(known: ReadonlySet<string>) {
  let before: ReportLayout | undefined
  let isBefore = false
  let isFirstBefore: boolean | undefined
  let columns: string | undefined
  let names = new Set<string>()
  let fileOfLast = 0
  return {
    enter(found: ReportLayout, { line, cells }: CsvRow) {
      isBefore = found.format.isSummary === true
      isFirstBefore ??= isBefore
      names = new Set(cells.map(plainName))
      if (isBefore) before = found
      else if (columns !== undefined && columns !== found.fields.join()) throw otherHeader(line)
      else columns = found.fields.join()
    },
    /** The section of the row, if it comes before the payments. */
    beforePayments({ file = 0 }: CsvRow): ReportLayout | undefined {
      if (file !== fileOfLast) isBefore = isFirstBefore === true
      fileOfLast = file
      return isBefore ? before : undefined
    },
    /** A report with other columns may be joined to the first one. */
    mayBeHeader: ({ cells: [first = ''] }: CsvRow) =>
      [names, known].some(some => some.has(plainName(first))),
    noRows: () => (isBefore ? new UnreadableFile(ONLY_BEFORE) : noRows()),
  }
}

/** A day of which the month is none, but the day could be one. */
const EXCHANGED = /^\d{4}-(1[3-9]|2\d|3[01])-(0[1-9]|1[0-2])\b/

function fieldsIn({ line, cells }: CsvRow, layout: ReportLayout): CsvFields {
  const { fields: columns, format } = layout
  const fields = plainFields(format, fieldsOf(columns, cells.map(unescapeFormula)))
  // In the other rows, a spreadsheet that puts the month first made other days of the days up to the twelfth.
  const name = TIMES.find(name => EXCHANGED.test(fields[name] ?? ''))
  if (name !== undefined && format.isIndian === true)
    throw new UnreadableFile(
      `Line ${line}: ${labelOf(layout, name)} has the month before the day, and the gateway’s report the day: format the column as yyyy-mm-dd hh:mm:ss in the spreadsheet`,
    )
  return fields
}

function shapeOf(layout: ReportLayout, delimiter: string): RowShape {
  const { fields: columns, width, needed, filled } = layout
  return { columns, width, delimiter, needed, filled, patterns: PATTERNS }
}

/** No report has a tenth as many. They are in memory together, and are judged and saved in one piece. */
const MAX_SETTLEMENTS = 20_000

/** The ids of the settlements in the section before the payments, by their UTRs, and what they paid out. */
function summaryReader() {
  const settlements = new Map<string, string>()
  const payouts: { row: ReadRow; line: number; misfit: string | null; of: ReportLayout }[] = []
  const fitRow = rowFitter()
  let noted = 0
  return {
    settlements,
    payouts,
    note(of: ReportLayout, came: CsvRow, shape: RowShape) {
      if (++noted > MAX_SETTLEMENTS)
        throw new UnreadableFile(
          `Line ${came.line}: the sections of settlements have more than ${MAX_SETTLEMENTS} rows: upload reports of shorter times`,
        )
      const fields = fieldsIn(came, of)
      const { utr, settlement_id } = fields
      // People add a row of sums, which has a word there.
      if (settlement_id === undefined || !/\d/.test(settlement_id)) return
      const { misfit } = fitRow(came, shape)
      if (utr !== undefined && misfit === null) settlements.set(utr, settlement_id)
      const row = of.format.read(fields, settlements, null)
      payouts.push({ row, line: came.line, misfit, of })
    },
  }
}

function plainFields(format: Format, fields: CsvFields): CsvFields {
  const named = Object.entries(fields).filter(isNamed)
  return Object.fromEntries(named.map(([name, text]) => [name, plainly(format, name, text)]))
}

/** Some programs write a word for no value until a payment is settled, or where it has no status. */
const MAY_LACK = ['settlement_id', 'settled_at', 'utr', 'status']
/** They also do so where no money is charged or moved; a zero is an amount, though. */
const MONEY = ['fee', 'tax', 'fee_with_tax', 'debit', 'credit']
const isNamed = ([name, text]: [string, string]) =>
  !(MAY_LACK.includes(name) || (MONEY.includes(name) && /[a-z]/i.test(text))) ||
  placeholder(text) === undefined

/** The reason with the file's own name of the column. */
export function labelled(layout: ReportLayout, reason: string): string {
  const [name = '', ...rest] = reason.split(' ')
  const label = labelOf(layout, name)
  return label === undefined ? reason : [label, ...rest].join(' ')
}

/**
 * The column's label in the file. The id of a part of a settlement is gateway B's event, which may be no payment, and gateway A
 * states what it paid out in two columns.
 */
function labelOf({ labels }: ReportLayout, name: string): string | undefined {
  if (name === 'paid_out' && labels.has('debit'))
    return [labels.get('credit'), labels.get('debit')]
      .filter(label => label !== undefined)
      .join(' or ')
  if (name === 'event_amount') return labels.get(name) ?? labels.get('amount')
  if (name === 'paid_out') return labels.get(name) ?? labels.get('amount_settled')
  if (name !== 'id') return labels.get(name)
  return ['event_id', 'gateway_payment_id', 'settlement_id']
    .map(one => labels.get(one))
    .find(label => label !== undefined)
}

function toldApart(row: ReadRow, numbered: ReturnType<typeof partNumbers>, file: number): ReadRow {
  const { settled, isShared = false } = row
  if (!isShared || typeof settled?.id !== 'string') return row
  const id = numbered(settled.settlement_id ?? '', settled.id, file)
  return { ...row, settled: { ...settled, id } }
}

/** A payment without its kind would be missing in its day, as if it were a fee. */
function rowErrors({ format, labels }: ReportLayout, fields: CsvFields): string[] {
  const { kindField, columns } = format
  const isNamed = (fields.gateway_payment_id ?? fields.event_id) !== undefined
  if (kindField === undefined || fields[kindField] !== undefined || !isNamed)
    return format.errors?.(fields) ?? []
  return [`${labels.get(kindField) ?? columns[kindField]?.[0]} is required`]
}

/** A cell as plain text; what cannot be read is left to the check. */
function plainly(format: Format, name: string, text: string): string {
  // A spreadsheet may show a zero so.
  if (text === '-' && MONEY.includes(name)) return '0'
  if (AMOUNTS.includes(name)) return ungrouped(text)
  if (!TIMES.includes(name)) return text
  const isIndian = format.isIndian === true
  const time = plainTime(text, { isIndian, isDay: name === 'settled_at' })
  // Some ids contain the times of their events as they are.
  return isIndian && name !== 'event_time' ? inIndia(time) : time
}
