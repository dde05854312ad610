import { roundedIds } from '../../csv/damaged-ids.ts'
import type { CsvFields } from '../../csv/fields.ts'
import { MAX_LISTED } from '../../csv/invalid-row.ts'
import { madeUpValues } from '../../csv/made-up-values.ts'
import type { CsvRow } from '../../csv/reading/header.ts'
import { rowFitter } from '../../csv/reading/row-fit.ts'
import type { StatusFields } from '../../payments/gateways/gateway-api.ts'
import type { ReadRow } from '../../payments/gateways/report-format.ts'
import type { WithStatus } from '../apis/with-statuses.ts'
import { errorsOfSaid, errorsOfSettled, paidTimeOf } from './check-statement-row.ts'
import type { Place } from './recognise.ts'
import { labelled, rowLayout } from './row-layout.ts'
import type { Refused } from './statement-days.ts'
import { statementFile } from './statement-file.ts'

type Invalid = { line: number; reason: string }
type Count = { rows: number; valid: number }
/** A row of payments; one that does not fit its columns has no fields. */
type Placed = {
  line: number
  file: number
  misfit: string | null
  fields: CsvFields
  statusFields: StatusFields
}
type Judged = Placed & {
  /** The errors of ids that only the other rows show to be rounded. */
  rounded: string[]
}
type Use = {
  withStatuses(rows: Judged[]): Promise<WithStatus<Judged>[]>
  save(valid: ReadRow[], count: Count): Promise<string[]>
}

export function statementReader(place: Place, { withStatuses, save }: Use) {
  const fitRow = rowFitter()
  const layout = rowLayout(place)
  const repeats = repeatFinder()
  const roundedIn = roundedIds<Placed>(statementFile.ids)
  const refused: Refused = { times: new Set(), isUndated: false }
  const counts = { valid: 0, invalid: 0, days: new Set<string>(), errors: [] as Invalid[] }
  const result = { ...counts, refused, ignored: layout.ignored }

  return {
    result,
    noRows: layout.noRows,
    header: async (header: CsvRow, separator: string) => layout.header(header, separator),
    read: (batch: CsvRow[], isLast: boolean) => roundedIn(batch.flatMap(placedRow), isLast),
    async save(batch: Judged[]) {
      const valid = (await withStatuses(batch)).flatMap(row => validRow(row))
      result.valid += valid.length
      await saveAll(valid)
    },
    /** Saves the payouts that no valid row follows. A file without any valid row is refused as a whole. */
    end: () => saveAll([]),
  }

  async function saveAll(valid: ReadRow[]) {
    const rows = result.valid === 0 ? [] : [...validPayouts(layout, result), ...valid]
    if (rows.length === 0) return
    const { valid: taken, invalid } = result
    // Rows that were only read by then count as neither: an interrupted upload keeps these numbers.
    for (const day of await save(rows, { rows: taken + invalid, valid: taken }))
      result.days.add(day)
  }

  function placedRow(row: CsvRow): Placed[] {
    const { line, file = 0 } = row
    if (layout.isBefore(row)) return []
    const { cells, misfit } = fitRow(row, layout.shape())
    const fields = misfit === null ? layout.fieldsIn({ line, cells }) : {}
    return [{ line, file, misfit, fields, statusFields: layout.statusFields(fields) }]
  }

  function validRow(placed: WithStatus<Judged>): ReadRow[] {
    const { line, file, misfit, fields, status, rounded } = placed
    if (misfit !== null) return refuse(result, line, [layout.labelled(misfit)])
    const row = layout.read(fields, status, file)
    const reasons = [...layout.rowErrors(fields), ...errorsOf(row, fields, rounded)]
    if (reasons.length === 0) reasons.push(...repeats.errors(row, line))
    if (reasons.length === 0) return [repeats.kept(row)]
    return refuse(result, line, reasons.map(layout.labelled), layout.timeIn(fields))
  }
}

function list(errors: Invalid[], line: number, reasons: string[]): void {
  if (errors.length < MAX_LISTED) errors.push({ line, reason: reasons.join('; ') })
}

/** The payouts of the section before the payments. An invalid one is counted as a row, and belongs to no day. */
function validPayouts(
  layout: ReturnType<typeof rowLayout>,
  result: { invalid: number; errors: Invalid[] },
): ReadRow[] {
  return layout.takePayouts().flatMap(({ row, line, misfit, of }) => {
    const reasons = misfit === null ? errorsOf(row, {}, []) : [misfit]
    if (reasons.length === 0) return [row]
    result.invalid++
    // What was settled and what was paid out are in one column.
    list(result.errors, line, [...new Set(reasons.map(reason => labelled(of, reason)))])
    return []
  })
}

function refuse(
  result: { invalid: number; errors: Invalid[]; refused: Refused },
  line: number,
  reasons: string[],
  time?: string,
): [] {
  const { errors, refused } = result
  result.invalid++
  list(errors, line, reasons)
  const readable = time && paidTimeOf(time)
  if (readable) refused.times.add(readable)
  else refused.isUndated = true
  return []
}

function errorsOf({ said, settled }: ReadRow, fields: CsvFields, rounded: string[]): string[] {
  if (said === null && settled === null) return []
  const ofSaid = said === null ? [] : errorsOfSaid(said)
  const errors = [...madeUpValues(fields), ...rounded, ...ofSaid]
  if (errors.length > 0 || settled === null) return errors
  // Gateway B states the amounts of parts and payouts in other columns than those of payments.
  const name = settled.kind === 'payout' ? 'amount_settled' : 'event_amount'
  return errorsOfSettled(settled).map(reason => reason.replace(/^amount\b/, name))
}

function repeatFinder() {
  const lineOf = new Map<string, number>()
  const isFailed = ({ said }: ReadRow) => said?.status === 'failed'
  return {
    errors(row: ReadRow, line: number): string[] {
      const { said, settled } = row
      const part = settled && `${settled.kind} ${settled.settlement_id} ${settled.id}`
      const key = said?.gateway_payment_id ?? part
      // A report may also name the attempts of a payment that failed.
      if (key === null || isFailed(row)) return []
      const before = lineOf.get(key)
      const name = said === null ? 'id' : 'gateway_payment_id'
      if (before !== undefined) return [`${name} repeats that of line ${before}`]
      lineOf.set(key, line)
      return []
    },
    /** The row, without its failed payment if that is known as captured. */
    kept(row: ReadRow): ReadRow {
      const isCaptured = isFailed(row) && lineOf.has(row.said?.gateway_payment_id ?? '')
      return isCaptured ? { ...row, said: null } : row
    },
  }
}
