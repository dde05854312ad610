import { Type } from '@sinclair/typebox'
import { oneOf } from '../../http/fields.ts'
import { paymentFilter } from '../../payments/payment-filter.ts'
import { OBJECTIONS } from '../../payments/payment-record.ts'

/** By what the console lists payments. */
export const paymentFilters = { ...paymentFilter, objection: Type.Optional(oneOf(OBJECTIONS)) }
