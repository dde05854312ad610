import { withoutEmptyEnd } from '../../csv/fields.ts'
import { columnsOf } from '../../csv/header.ts'
import { type Format, filled, plainName } from './format.ts'
import { gatewayAPayments, gatewayASettlements } from './gateway-a-exports.ts'
import { gatewayBEvents, gatewayBSummary } from './gateway-b-exports.ts'
import { statementFile } from './statement-file.ts'

const MAX_SHOWN_CHARACTERS = 60
const TEMPLATE = '/api/gateways/statement-template.csv'

const names = statementFile.columns.map(({ name }) => name)
const ofTemplate: Format = {
  title: statementFile.type,
  signature: statementFile.columns.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  columns: Object.fromEntries(names.map(name => [name, [name]])),
  read: fields => ({ said: filled(fields), settled: null }),
}
const EXPORTS: Record<string, Format[]> = {
  gateway_a: [gatewayASettlements, gatewayAPayments],
  gateway_b: [gatewayBEvents, gatewayBSummary],
}

export type Layout = {
  format: Format
  /** Our field in each column; empty for a column that is ignored. */
  fields: string[]
  /** Their name of each of our fields. */
  labels: ReadonlyMap<string, string>
  ignored: string[]
}

/** @returns undefined for cells that are no header */
export function recognise(cells: string[], gateway: string): Layout | undefined {
  const header = withoutEmptyEnd(cells).map(plainName)
  const format = [ofTemplate, ...(EXPORTS[gateway] ?? [])].find(({ signature }) =>
    signature.every(name => header.includes(name)),
  )
  if (format === undefined) return undefined
  const placed = Object.entries(format.columns).map(([field, columns]) => ({
    field,
    at: header.indexOf(columns.find(name => header.includes(name)) ?? ''),
  }))
  const fields = header.map((_, at) => placed.find(one => one.at === at)?.field ?? '')
  return {
    format,
    fields,
    labels: new Map(fields.map((field, at) => [field, shown(cells[at])])),
    ignored: fields.flatMap((field, at) => (field === '' ? [shown(cells[at])] : [])),
  }
}

const shown = (name = '') => name.trim().slice(0, MAX_SHOWN_CHARACTERS)

/** @throws UnreadableFile that says what is missing of the template */
export function recogniseHeader(cells: string[], gateway: string): Layout {
  const layout = recognise(cells, gateway)
  if (layout !== undefined) return layout
  columnsOf(cells, statementFile, TEMPLATE)
  throw new Error('a header with all columns of the template is recognised')
}
