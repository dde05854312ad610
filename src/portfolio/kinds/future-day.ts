import { textOfIso } from '../../day.ts'
import { sortable } from '../../ledger/day-format.ts'

/** @param day as `dd MMMM yyyy` @param businessDate as `YYYY-MM-DD` */
export function futureDay(column: string, day: string, businessDate: string): string[] {
  return sortable(day) > businessDate
    ? [`${column} is in the future: the ledger’s business date is ${textOfIso(businessDate)}`]
    : []
}
