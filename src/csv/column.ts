type CsvColumn = { name: string; isRequired: boolean; description: string; example: string }

export type FileKind = {
  type: string
  columns: CsvColumn[]
  ids: string[]
  /** The columns that may be there although nothing is taken from them, such as those that our own export adds. */
  ignored?: RegExp
}

/** A kind of file that has these columns only. */
export type OwnKind = FileKind & {
  /** What the cells of some columns look like: a cell of another kind shows that its row has shifted. */
  patterns: Record<string, RegExp>
}

/** A cell with a number, or an empty one. */
export const NUMBER = /^(-?\d[\d,]*(\.\d*)?(\/-)?)?$/
/** A cell with a day or a time, in words, in digits or as a spreadsheet's serial number, or an empty one. */
export const DAY = /^(\d{1,4}[-/. ].*|\d{5}|\d{10})?$/

export const requiredColumn = (name: string, example: string, description: string): CsvColumn => ({
  name,
  isRequired: true,
  description,
  example,
})
export const optionalColumn = (name: string, example: string, description: string): CsvColumn => ({
  ...requiredColumn(name, example, description),
  isRequired: false,
})

/** The column that an errors file adds. Every upload accepts it, so that a corrected errors file can be uploaded. */
export const REASON = 'reason'
