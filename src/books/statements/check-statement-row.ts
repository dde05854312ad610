import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { damagedIds } from '../../csv/damaged-ids.ts'
import { TIME_RULE, timeOf } from '../../csv/day-cell.ts'
import { isNumber } from '../../csv/number-cell.ts'
import { DAY_MS } from '../../day.ts'
import { oneOf, only } from '../../http/fields/schemas.ts'
import { IssuedId, Text } from '../../http/fields/text-fields.ts'
import { WHY } from '../../http/fields/why.ts'
import { columnErrors } from '../../http/validator.ts'
import { filled, type Said, type Settled } from '../../payments/gateways/report-format.ts'

/** Amounts from here on have more digits than the database's column has before its point. */
const BEYOND = 10 ** 13
const isAmount = (text: string) => isNumber(text, 'amount') && Number(text) < BEYOND

const PLAINLY =
  'without a currency, with at most 13 digits before the point and two after it, and with separators only if it has a point'

setKind('FileMoney', text => isAmount(text) && Number(text) > 0)
const Money = Type.Unsafe<string>({
  [Kind]: 'FileMoney',
  type: 'string',
  description: `a number above 0 ${PLAINLY}`,
})
setKind('FileCharge', text => isAmount(text.replace(/^-/, '')))
const Charge = Type.Unsafe<string>({
  [Kind]: 'FileCharge',
  type: 'string',
  description: `a number ${PLAINLY}`,
})
const SettlementId = IssuedId('setl_29QQoUBi66xm2f')
const Utr = Text(200, '500000000001')
setKind('FileTime', text => timeOf(text) !== undefined)
const FileTime = Type.Unsafe<string>({
  [Kind]: 'FileTime',
  type: 'string',
  description: TIME_RULE.replace(/^must be /, ''),
})

/** Any other day is a typing error, which would take the payment out of the books of its own day. */
const FIRST_DAY = '2000-01-01'
/** East of UTC, tomorrow may have begun. */
const DAYS_AHEAD = 1

/** The time of a payment, on a day that it may have; undefined for any other text. */
export function paidTimeOf(text: string): string | undefined {
  const time = timeOf(text)
  if (time === undefined) return undefined
  const day = time.slice(0, FIRST_DAY.length)
  const last = new Date(Date.now() + DAYS_AHEAD * DAY_MS).toISOString()
  return FIRST_DAY <= day && day <= last ? time : undefined
}
setKind('PaidTime', text => paidTimeOf(text) !== undefined)
const PaidTime = Type.Unsafe<string>({
  ...FileTime,
  [Kind]: 'PaidTime',
  [WHY]: (text: unknown) =>
    typeof text === 'string' && timeOf(text) !== undefined
      ? `is ${text}, in the future or before 2000`
      : undefined,
})

const Row = only({
  gateway_payment_id: IssuedId('pay_29QQoUBi66xm2f'),
  amount: Money,
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'three capital letters' }),
  status: oneOf(['captured', 'refunded', 'failed']),
  captured_at: PaidTime,
  fee: Type.Optional(Charge),
  tax: Type.Optional(Charge),
  settlement_id: Type.Optional(SettlementId),
  settled_at: Type.Optional(FileTime),
  utr: Type.Optional(Utr),
})
const SettledRow = only({
  kind: Type.String(),
  id: IssuedId('rfnd_29QQoUBi66xm2f'),
  formerly: Type.Optional(Type.String()),
  payment_id: Type.Optional(Type.String()),
  settlement_id: SettlementId,
  settled_at: Type.Optional(FileTime),
  utr: Type.Optional(Utr),
  amount: Charge,
  fee: Type.Optional(Charge),
  tax: Type.Optional(Charge),
  paid_out: Type.Optional(Charge),
})
const said = TypeCompiler.Compile(Row)
const settled = TypeCompiler.Compile(SettledRow)
const REFERENCES = ['settlement_id', 'utr']

/** Amounts stay texts, so that no digit is lost. */
export function errorsOfSaid(row: Said): string[] {
  return [
    ...columnErrors(said.Errors(row)),
    ...damagedIds(row, { paymentIds: ['gateway_payment_id'], ids: REFERENCES }),
  ]
}

export function errorsOfSettled(row: Settled): string[] {
  const fields = filled(row)
  // A part that is neither payment nor refund may have an id that was made of several columns.
  const kind = { payment: 'paymentIds', other: 'externalIds', refund: 'ids', payout: 'ids' }[
    row.kind
  ]
  return [
    ...columnErrors(settled.Errors(fields)),
    ...damagedIds(fields, { [kind]: ['id'] }),
    ...damagedIds(fields, { ids: REFERENCES }),
  ]
}

/** An empty cell is undefined here, even where it is required. */
function setKind(kind: string, isOfKind: (text: string) => boolean) {
  TypeRegistry.Set(kind, (_, value) => typeof value === 'string' && isOfKind(value))
}
