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

const Money = cell(
  'FileMoney',
  `a number above 0 ${PLAINLY}`,
  text => isAmount(text) && Number(text) > 0,
)
const Charge = cell('FileCharge', `a number ${PLAINLY}`, text => isAmount(text.replace(/^-/, '')))
const SettlementId = IssuedId('setl_29QQoUBi66xm2f')
const Utr = Text(200, '500000000001')
const TIME = TIME_RULE.replace(/^must be /, '')
const FileTime = cell('FileTime', TIME, text => timeOf(text) !== undefined)

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
const PaidTime = {
  ...cell('PaidTime', TIME, text => paidTimeOf(text) !== undefined),
  [WHY]: (text: unknown) =>
    typeof text === 'string' && timeOf(text) !== undefined
      ? `is ${text}, in the future or before 2000`
      : undefined,
}

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
function cell(kind: string, description: string, isOfKind: (text: string) => boolean) {
  TypeRegistry.Set(kind, (_, value) => typeof value === 'string' && isOfKind(value))
  return Type.Unsafe<string>({ [Kind]: kind, type: 'string', description })
}
