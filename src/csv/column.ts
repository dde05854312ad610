import type { RowShape } from './reading/row-fit.ts'

type CsvColumn = {
  name: string
  isRequired: boolean
  description: string
  example: string
}

export type FileKind = {
  type: string
  columns: CsvColumn[]
  ids: string[]
}

/** A kind of file that has these columns only. */
export type OwnKind = FileKind & { patterns: RowShape['patterns'] }

export const required = (name: string, example: string, description: string): CsvColumn => ({
  name,
  isRequired: true,
  description,
  example,
})
export const optional = (name: string, example: string, description: string): CsvColumn => ({
  ...required(name, example, description),
  isRequired: false,
})

/** The column that an errors file adds. Every upload accepts it, so that a corrected errors file can be uploaded. */
export const REASON = 'reason'
