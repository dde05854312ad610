import { Type } from '@sinclair/typebox'
import { oneOf } from '../../http/fields.ts'
import { paymentFilter } from '../../payments/payment-filter.ts'
import { OBJECTIONS } from '../../payments/payment-record.ts'

export const paymentFilters = { ...paymentFilter, objection: Type.Optional(oneOf(OBJECTIONS)) }
