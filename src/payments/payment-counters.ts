import { Counter, Histogram, type Registry } from 'prom-client'

export function paymentCounters(registers: Registry[]) {
  return {
    events: new Counter({
      name: 'loanops_payment_events_total',
      help: 'Payment events stored, by gateway and lender',
      labelNames: ['gateway', 'lender'],
      registers,
    }),
    repeatedEvents: new Counter({
      name: 'loanops_payment_events_repeated_total',
      help: 'Payment events received more than once, by gateway',
      labelNames: ['gateway'],
      registers,
    }),
    signatureFailures: new Counter({
      name: 'loanops_signature_failures_total',
      help: 'Payment events refused for their signature, by gateway and lender',
      labelNames: ['gateway', 'lender'],
      registers,
    }),
    overpaidRepayments: new Counter({
      name: 'loanops_overpaid_repayments_total',
      help: 'Repayments larger than the amount outstanding on their loan',
      registers,
    }),
    reversals: new Counter({
      name: 'loanops_reversals_total',
      help: 'Refunds, chargebacks and restored payments that the ledger booked or refused, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'loanops_batch_seconds',
      help: 'Duration of a batch run’s stages',
      labelNames: ['stage'],
      buckets: [0.05, 0.25, 1, 5, 15, 60, 300, 1_800],
      registers,
    }),
  }
}
