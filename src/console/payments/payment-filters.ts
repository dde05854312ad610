import { Type } from '@sinclair/typebox'
import { oneOf } from '../../http/schemas.ts'
import { paymentFilter } from '../../payments/payment-filter.ts'
import { OBJECTIONS } from '../../payments/payment-record.ts'

export const paymentFilters = { ...paymentFilter, objection: Type.Optional(oneOf(OBJECTIONS)) }
