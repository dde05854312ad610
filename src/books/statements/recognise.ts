import type { OpenGateway } from '../../config/config.ts'
import { withoutEmptyEnd } from '../../csv/fields.ts'
import { type FileType, refuseOtherTypes } from '../../csv/reading/file-type.ts'
import { type CsvRow, columnsOf, plainName } from '../../csv/reading/header.ts'
import { UnreadableFile } from '../../csv/reading/unreadable-file.ts'
import { type Format, filled } from '../../payments/gateways/report-format.ts'
import { statementFile } from './statement-file.ts'

const MAX_SHOWN_CHARACTERS = 60

const names = statementFile.columns.map(({ name }) => name)
const ofTemplate: Format = {
  title: statementFile.type,
  signature: statementFile.columns.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  columns: Object.fromEntries(names.map(name => [name, [name]])),
  read: fields => ({ said: filled(fields), settled: null }),
}
type Reporting = Pick<OpenGateway, 'name' | 'reports'>

/** The types of statements, by which uploads of other files recognise them. */
export const statementTypes = (gateways: Reporting[]): FileType[] => [
  {
    title: 'a statement of a gateway',
    remedy: 'upload it as a gateway’s report',
    // The console's list of payments has the ids, too.
    isHeader: columns =>
      ['gateway_payment_id', 'captured_at'].every(name => columns.includes(name)),
  },
  ...reportsOf(gateways, gateway => `upload it as a report of ${gateway}`),
]

export type ReportLayout = {
  format: Format
  /** Our field in each column; empty for a column that is ignored. */
  fields: string[]
  /** The number of the header's cells, with the empty ones at its end. */
  width: number
  /** The fields that a row must reach. */
  needed: string[]
  /** The fields that are empty in no row. */
  filled: string[]
  /** The file's name of each of our fields. */
  labels: ReadonlyMap<string, string>
  ignored: string[]
}

function formatsOf({ gateway, gateways }: Place): Format[] {
  const { reports = [] } = gateways.find(({ name }) => name === gateway) ?? {}
  return [ofTemplate, ...reports]
}

/** The names of the columns that a report may have and that are read. */
export const knownColumns = (place: Place): ReadonlySet<string> =>
  new Set(formatsOf(place).flatMap(({ columns }) => Object.values(columns).flat()))

/** @returns undefined for cells that are no header */
export function recognise(cells: string[], place: Place): ReportLayout | undefined {
  const header = withoutEmptyEnd(cells).map(plainName)
  const format = formatsOf(place).find(({ signature }) =>
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
    width: cells.length,
    ...mustHave(format, fields),
    labels: new Map(fields.map((field, at) => [field, shown(cells[at])])),
    ignored: fields.flatMap((field, at) => (field === '' ? [shown(cells[at])] : [])),
  }
}

/** Nobody knows which of the columns that we read a gateway's own report may leave out, and which it always fills. */
function mustHave(format: Format, fields: string[]) {
  if (format.isSummary) return { needed: [], filled: ['settlement_id', 'amount_settled'] }
  const { signature } = format
  return format === ofTemplate
    ? { needed: signature, filled: signature }
    : { needed: fields.filter(field => field !== ''), filled: [] }
}

const shown = (name = '') => name.trim().slice(0, MAX_SHOWN_CHARACTERS)

export type Place = {
  gateway: string
  gateways: Reporting[]
  others: FileType[]
  templateUrl: string
}

/** @throws UnreadableFile that says what the file is, or what is missing of the template */
export function recogniseHeader(header: CsvRow, place: Place): ReportLayout {
  const { gateway, gateways, others, templateUrl } = place
  const { cells } = header
  const layout = recognise(cells, place)
  if (layout !== undefined) {
    refuseRepeated(header, layout)
    refuseMinorUnits(header, layout)
    return layout
  }
  const ofOthers = reportsOf(
    gateways.filter(({ name }) => name !== gateway),
    other => `choose ${other} as its gateway`,
  )
  refuseOtherTypes(cells, `a report of ${gateway}`, [...ofOthers, ...others])
  columnsOf(header, statementFile, templateUrl)
  throw new Error('a header with all columns of the template is recognised')
}

/** If a column appears twice, nobody can tell which amount is meant. */
function refuseRepeated({ line, cells }: CsvRow, { fields }: ReportLayout) {
  const columns = withoutEmptyEnd(cells).map(plainName)
  const at = columns.findIndex((name, at) => {
    const first = columns.indexOf(name)
    return first < at && fields[first] !== ''
  })
  if (at !== -1)
    throw new UnreadableFile(`Line ${line}: column ${at + 1} repeats ${shown(cells[at])}`)
}

/** People who turn an API's answer into a file correct its times, which are refused, and may forget its amounts. */
function refuseMinorUnits({ line, cells }: CsvRow, { format }: ReportLayout) {
  const isOf = (columns?: string[]) => (cell: string) => columns?.includes(plainName(cell)) === true
  const column = cells.some(isOf(format.ofReport)) ? undefined : cells.find(isOf(format.ofApi))
  if (column !== undefined)
    throw new UnreadableFile(
      `Line ${line}: ${shown(column)} is a column of the gateway’s API, whose amounts are in paise: upload the gateway’s own report, or write the amounts in rupees and leave out this column`,
    )
}

function reportsOf(gateways: Reporting[], remedy: (gateway: string) => string): FileType[] {
  return gateways.flatMap(({ name: gateway, reports = [] }) =>
    reports.map(({ title, signature }) => ({
      title: `a report of ${title}`,
      remedy: remedy(gateway),
      isHeader: (columns: string[]) => signature.every(name => columns.includes(name)),
    })),
  )
}
