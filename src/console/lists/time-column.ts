import type { Formats } from '../frame/formats.ts'
import type { ListColumn } from './list.ts'

type Time = Date | string | null

/** A column of times in the ledger's time zone, which an export names in its header. */
export function timeColumn<Row extends object>(
  { time, text, timeZone }: Formats,
  name: string,
  title: string,
  read = (row: Row) => (row as Record<string, unknown>)[name] as Time,
): ListColumn<Row> {
  return {
    name,
    title,
    cell: row => time(read(row)),
    exported: { name: `${name} (${timeZone})`, text: row => text(read(row)) },
  }
}
