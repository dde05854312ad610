import { Type } from '@sinclair/typebox'
import { oneOf } from '../../http/fields/schemas.ts'
import { OBJECTIONS } from '../../payments/payment-record.ts'
import { paymentFilter } from '../../payments/reading/payment-filter.ts'

export const paymentFilters = { ...paymentFilter, objection: Type.Optional(oneOf(OBJECTIONS)) }
