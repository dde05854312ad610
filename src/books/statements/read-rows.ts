import { timeOf } from '../../csv/day-cell.ts'
import { type CsvFields, misfitOf, withoutEmptyEnd } from '../../csv/fields.ts'
import { madeUpValues } from '../../csv/made-up-values.ts'
import type { CsvRow } from '../../csv/row-batches.ts'
import type { ReadRow } from '../../payments/gateways/report-format.ts'
import { errorsOfSaid, errorsOfSettled } from './check-statement-row.ts'
import type { Place } from './recognise.ts'
import { rowLayout } from './row-layout.ts'
import type { Refused } from './statement-days.ts'

const MAX_LISTED = 100

type Count = { rows: number; valid: number }
/** Saves rows, and returns their days. */
type Keep = (valid: ReadRow[], count: Count) => Promise<string[]>

export function statementReader(place: Place, keep: Keep) {
  const layout = rowLayout(place)
  const repeats = repeatFinder()
  const refused: Refused = { times: new Set(), isUndated: false }
  const errors: { line: number; reason: string }[] = []
  const { ignored } = layout
  const result = { rows: 0, valid: 0, days: new Set<string>(), refused, errors, ignored }

  return {
    result,
    async header(header: CsvRow) {
      layout.header(header)
    },
    async rows(batch: CsvRow[]) {
      const valid = batch.flatMap(row => validRow(row))
      result.valid += valid.length
      if (valid.length === 0) return
      for (const day of await keep(valid, result)) result.days.add(day)
    },
  }

  function validRow({ line, cells: came }: CsvRow): ReadRow[] {
    if (layout.isBefore(came)) return []
    result.rows++
    const cells = withoutEmptyEnd(came, layout.columns().length)
    const misfit = misfitOf(cells, layout.columns())
    if (misfit !== null) return refuse(line, [misfit], undefined)
    const { row, time, fields } = layout.read(cells)
    const reasons = errorsOf(row, fields)
    if (reasons.length === 0) reasons.push(...repeats(row, line))
    return reasons.length === 0 ? [row] : refuse(line, reasons.map(layout.labelled), time)
  }

  function refuse(line: number, reasons: string[], time: string | undefined): [] {
    if (errors.length < MAX_LISTED) errors.push({ line, reason: reasons.join('; ') })
    const readable = time && timeOf(time)
    if (readable) refused.times.add(readable)
    else refused.isUndated = true
    return []
  }
}

function errorsOf({ said, settled }: ReadRow, fields: CsvFields): string[] {
  if (said === null && settled === null) return []
  const errors = [...madeUpValues(fields), ...(said === null ? [] : errorsOfSaid(said))]
  return errors.length > 0 || settled === null ? errors : errorsOfSettled(settled)
}

function repeatFinder() {
  const lineOf = new Map<string, number>()
  return ({ said, settled }: ReadRow, line: number): string[] => {
    const part = settled && `${settled.kind} ${settled.settlement_id} ${settled.id}`
    const key = said?.gateway_payment_id ?? part
    if (key === null) return []
    const before = lineOf.get(key)
    if (before !== undefined) return [`gateway_payment_id repeats that of line ${before}`]
    lineOf.set(key, line)
    return []
  }
}
