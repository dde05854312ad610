import type { Info } from 'csv-parse'

export type Counted = Pick<Info, 'empty_lines'> & { lines: number }

/** Numbers lines as an editor does: csv-parse counts where a record ends, and a CRLF inside quotes twice. */
export function lineCounter() {
  let endOfLast = 0
  let blankBefore = 0
  let countedTwice = 0

  return {
    /** Takes a record that has ended. @returns the line on which it begins */
    startOf(cells: string[], { lines, empty_lines }: Counted): number {
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

    /** The line on which the record begins that has not ended. */
    openLine({ empty_lines }: Pick<Info, 'empty_lines'>): number {
      return endOfLast - countedTwice + empty_lines - blankBefore + 1
    },
  }
}
