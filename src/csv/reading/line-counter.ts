import type { Info } from 'csv-parse'

export type LineCounts = Pick<Info, 'empty_lines'> & { lines: number }

/** Counts lines as an editor does: csv-parse gives the line where a record ends, and counts a CRLF inside quotes twice. */
export function lineCounter() {
  let endOfLast = 0
  let blankBefore = 0
  let countedTwice = 0

  return {
    startOf(cells: string[], { lines, empty_lines }: LineCounts): number {
      let start = lines - countedTwice
      if (lines - endOfLast > 1) {
        const text = cells.join(' ')
        start -= text.match(/[\r\n]/g)?.length ?? 0
        countedTwice += text.match(/\r\n/g)?.length ?? 0
      }
      endOfLast = lines
      blankBefore = empty_lines
      return start
    },

    openLine({ empty_lines }: Pick<Info, 'empty_lines'>): number {
      return endOfLast - countedTwice + empty_lines - blankBefore + 1
    },
  }
}
