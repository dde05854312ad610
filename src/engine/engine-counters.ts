import { Counter, type Registry } from 'prom-client'

export function engineCounters(registers: Registry[]) {
  return {
    operations: new Counter({
      name: 'loanops_operations_total',
      help: 'Operations that became final, by type and status',
      labelNames: ['operation_type', 'status'],
      registers,
    }),
    claimsLost: new Counter({
      name: 'loanops_claims_lost_total',
      help: 'Claims that this process ended because their worker stopped renewing them',
      registers,
    }),
  }
}
