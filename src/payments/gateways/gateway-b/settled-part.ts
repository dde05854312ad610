import { Decimal } from 'decimal.js'
import type { ApiSettlement } from '../gateway-api.ts'
import { inIndia } from '../report-format.ts'

type Kind = ApiSettlement['kind']
type Text = string | null | undefined
type Event = {
  eventId: Text
  type: string
  /** The time as it is written, in India's time if it names no zone. */
  at: Text
  refundId: Text
  paidOut: Text
}
type PartId = {
  id: string | null
  /** Its id in earlier versions, which differed between files and fetches, or the beginning of that id. */
  formerly: string | null
}

/** Reports name `CHARGEBACK_REVERSE` and the like what the API names `CHARGEBACK_REVERSAL`. */
const REVERSE = /_REVERSE$/

const KINDS: Record<string, Kind> = { PAYMENT: 'payment', REFUND: 'refund' }

export const partKindOf = (type: string): Kind => KINDS[type] ?? 'other'

/**
 * What identifies a part of a settlement, other than a payment, in the gateway's API and in its reports alike: these do
 * not always have a refund's own id, and several adjustments may share an event's id.
 */
export function partOf(kind: Kind, { eventId, type, at, refundId, paidOut }: Event): PartId {
  if (kind === 'refund') return { id: eventId ?? refundId ?? null, formerly: refundId ?? null }
  if (typeof eventId !== 'string') return { id: null, formerly: null }
  const named = `${eventId} ${type.toUpperCase().replace(REVERSE, '_REVERSAL')} `
  const added = typeof paidOut === 'string' ? [plain(paidOut)] : []
  return { id: named + [minuteOf(at ?? ''), ...added].join(' '), formerly: named }
}

/**
 * Whether an adjustment's remarks say that it is the payout itself, or the balance that is paid out: an instant settlement
 * lists both.
 */
export const isOfPayout = (remarks: Text): boolean => /_(COMPUTE|SWEEP)$/i.test(remarks ?? '')

/** What a settlement paid out: nothing, if its bank refused it, whatever amount its row states. */
export const paidOutOf = <T>(total: T, status: Text): T | '0' =>
  ['FAILED', 'CANCELLED', 'REVERSED'].includes(status?.toUpperCase() ?? '') ? '0' : total

/** A debit is written with or without its sign. */
export const signed = (amount: string, saleType: Text): string =>
  saleType?.toUpperCase() === 'DEBIT' && !amount.startsWith('-') ? `-${amount}` : amount

/** A spreadsheet may have left out the seconds. */
function minuteOf(at: string): string {
  const time = new Date(inIndia(at.replace(' ', 'T')))
  return Number.isNaN(time.getTime()) ? at : `${time.toISOString().slice(0, 16)}Z`
}

/** A text that is no number is left to the check. */
const plain = (amount: string) =>
  /^-?\d+(\.\d+)?$/.test(amount) ? new Decimal(amount).toFixed() : amount
