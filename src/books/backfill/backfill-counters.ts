import { Counter, type Registry } from 'prom-client'

export function backfillCounters(registers: Registry[]) {
  return {
    missedPayments: new Counter({
      name: 'loanops_missed_payments_total',
      help: 'Captured payments that a gateway had and LoanOps did not, by gateway',
      labelNames: ['gateway'],
      registers,
    }),
  }
}
