import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { damagedIds } from '../../csv/damaged-ids.ts'
import type { CsvFields } from '../../csv/fields.ts'
import { ungrouped } from '../../csv/ungrouped.ts'
import { Time } from '../../http/day-fields.ts'
import { closed, oneOf } from '../../http/schemas.ts'
import { Text } from '../../http/text-fields.ts'
import { columnErrors } from '../../http/validator.ts'

const Money = Type.String({
  pattern: '^(?=.*[1-9])\\d{1,13}(\\.\\d{1,2})?$',
  description: 'a number above 0 with at most two decimals',
})
const Charge = Type.String({
  pattern: '^-?\\d{1,13}(\\.\\d{1,6})?$',
  description: 'a number with at most six decimals',
})
const Reference = Text(200, 'setl_29QQoUBi66xm2f')

const Row = Type.Object(
  {
    gateway_payment_id: Text(200, 'pay_29QQoUBi66xm2f'),
    amount: Money,
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'three capital letters' }),
    status: oneOf(['captured', 'refunded', 'failed']),
    captured_at: Time,
    fee: Type.Optional(Charge),
    tax: Type.Optional(Charge),
    settlement_id: Type.Optional(Reference),
    settled_at: Type.Optional(Time),
    utr: Type.Optional(Reference),
  },
  closed,
)
const compiled = TypeCompiler.Compile(Row)
const AMOUNTS = ['amount', 'fee', 'tax']

export function readAmounts(fields: CsvFields): CsvFields {
  const amounts = AMOUNTS.flatMap(name => {
    const text = fields[name]
    return text === undefined ? [] : [[name, ungrouped(text)]]
  })
  return { ...fields, ...Object.fromEntries(amounts) }
}

export const isTime = (text: string | undefined): text is string => Value.Check(Time, text)

/** Amounts stay texts, so that no digit is lost. */
export function statementErrors({ reason: _, ...fields }: CsvFields): string[] {
  return [
    ...columnErrors(compiled.Errors(fields)),
    ...damagedIds(fields, { ids: ['gateway_payment_id', 'settlement_id', 'utr'] }),
  ]
}
