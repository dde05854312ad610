import { type RawBuilder, sql } from 'kysely'
import { IS_RESOLVABLE, IS_UNTRIED } from '../../engine/operation.ts'
import {
  matchingOperations,
  type OperationFilter,
} from '../../operations/reading/operation-filter.ts'
import { IS_ASSIGNABLE, IS_OPEN } from '../../payments/decisions/decidable.ts'
import { matchingPayments, type PaymentFilter } from '../../payments/reading/payment-filter.ts'
import { DECISIONS, type DecisionName } from './decisions.ts'

export type BulkFilter = OperationFilter & PaymentFilter

/** Selects the rows that match the filter and allow this decision; each row's `item` identifies it. */
export function matchingItems(decision: DecisionName, filter: BulkFilter, timeZone: string) {
  if (DECISIONS[decision].about === 'operations')
    return sql`
      select jsonb_build_object('tracking_id', loanops.tracking_id(o)) as item
        from loanops.operation o
       where o.status = 'processing' and ${matchingOperations({ ...filter, time_zone: timeZone })} and ${CAN_BE[decision] ?? sql`true`}
       order by o.seq`
  return sql`
    select jsonb_build_object('gateway', p.gateway, 'id', p.gateway_payment_id, 'kind', p.kind, 'loan', p.external_loan_id,
             'version', core.version_of(p), 'currency', p.currency,
             'amount', case when p.amount > 0 then trim_scale(greatest(p.amount, p.decided_amount))::text end) as item
      from core.transaction p
     where ${matchingPayments(filter, timeZone)} and ${CAN_BE[decision] ?? sql`true`}
     order by p.id`
}

const CAN_BE: Partial<Record<DecisionName, RawBuilder<unknown>>> = {
  'operations.retry': IS_RESOLVABLE,
  'operations.failed': IS_RESOLVABLE,
  'operations.cancel': IS_UNTRIED,
  'payments.assign': sql`${IS_ASSIGNABLE} and p.external_loan_id is not null`,
  'payments.handled': IS_OPEN,
  'payments.dismiss': IS_OPEN,
}
