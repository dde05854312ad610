import { Decimal } from 'decimal.js'
import type { PaymentStatus, SettledKind, StatusFields } from './gateway-api.ts'
import { isZero } from './items/shape.ts'

export type Fields = Record<string, string>
/** The cells of a row about a payment, in the template's columns. */
export type Said = Fields
/** A part of a settlement. Amounts are texts until they are checked. */
export type Settled = {
  kind: SettledKind
  id: string | null | undefined
  /** The same as in `ApiSettlement`. */
  formerly?: string | null
  payment_id?: string | undefined
  settlement_id: string | undefined
  settled_at?: string | undefined
  utr?: string | undefined
  amount: string | undefined
  fee?: string | undefined
  tax?: string | undefined
  paid_out?: string | undefined
}
/** The content of a row; both members are null for a row without money, such as a payment that was only begun. */
export type ReadRow = {
  said: Said | null
  settled: Settled | null
  /** The same as `is_of_payout` in `ApiSettlement`. */
  ofPayout?: { kind: SettledKind; id: string | null; settlement_id: string | undefined }
  /** Whether several parts of the settlement may have the id of this one. */
  isShared?: boolean
  /** Whether the row only says that the payment was captured once, and not whether it was refunded since. */
  isEvent?: boolean
}

export type Format = {
  title: string
  /** A header with all of these is one of this format. */
  signature: string[]
  /** The column that holds each of our fields: of several, the first one that the header has. */
  columns: Record<string, string[]>
  /** Our field that says what a row is about, in a report of more than payments. */
  kindField?: string
  /** The rows of a summary only name the settlements of the section that follows. */
  isSummary?: true
  /** Columns that the gateway's API answers, with amounts in paise. */
  ofApi?: string[]
  /** Columns that only a report has, although it may have some of the API's, too. */
  ofReport?: string[]
  /** In the gateway's own files, days come before months that are numbers, and times without a zone are India's. */
  isIndian?: true
  /** Reads a payment's status, if the report has the gateway's own words for it. */
  statusFields?(fields: Fields): StatusFields
  /** What is wrong with the row, besides its single cells. */
  errors?(fields: Fields): string[]
  /**
   * @param settlements the id of each settlement, by its UTR, where an earlier section of the file has them
   * @param status what the base model reads from `statusFields`; null for a status that it does not know
   */
  read(
    fields: Fields,
    settlements: ReadonlyMap<string, string>,
    status: PaymentStatus | null,
  ): ReadRow
}

/** The first number less the others; or the first text that is not a number, which the check refuses. */
export function less(from: string | undefined, ...others: (string | undefined)[]) {
  const numbers = [from, ...others.map(other => other ?? '0')]
  if (from === undefined) return undefined
  const odd = numbers.find(text => !/^-?\d+(\.\d{1,2})?$/.test(text ?? ''))
  if (odd !== undefined) return odd
  return numbers
    .slice(1)
    .reduce((rest, other) => rest.minus(other as string), new Decimal(from))
    .toFixed()
}

/** Some people write what was taken off with its sign. */
export const unsigned = (amount: string | undefined) => amount?.replace(/^-/, '')

/** A payment of zero registers a mandate. */
export const isOfMandate = (amount = ''): boolean => isZero(amount)

/** The fields without those that the row does not fill. */
export function filled(fields: Record<string, string | null | undefined>): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

const ZONED = /(Z|[+-]\d\d:\d\d)$/i

export const inIndia = (time: string) => (ZONED.test(time) ? time : `${time}+05:30`)
