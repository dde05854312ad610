import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { openUnanswered } from './unanswered.ts'

export type Metrics = ReturnType<typeof openMetrics>

/** The metrics of one process. Labels never contain ids, names or any other text from a caller. */
export function openMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    unanswered: openUnanswered(registers),
    ...operationMetrics(registers),
    ...paymentMetrics(registers),
  }
}

function operationMetrics(registers: Registry[]) {
  return {
    httpSeconds: new Histogram({
      name: 'loanops_http_request_seconds',
      help: 'Duration of HTTP requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers,
    }),
    operations: new Counter({
      name: 'loanops_operations_total',
      help: 'Operations that became final, by type and status',
      labelNames: ['operation_type', 'status'],
      registers,
    }),
    migrationRows: new Counter({
      name: 'loanops_migration_rows_total',
      help: 'Finished rows of uploaded portfolios, by state',
      labelNames: ['state'],
      registers,
    }),
    callbackAttempts: new Counter({
      name: 'loanops_callback_attempts_total',
      help: 'Attempts to deliver a callback, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    commitWait: new Histogram({
      name: 'loanops_commit_wait_seconds',
      help: 'How long the first item of a group waited until the group was committed, by what was committed',
      labelNames: ['of'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    claimsLost: new Counter({
      name: 'loanops_claims_lost_total',
      help: 'Claims of workers that stopped renewing them, ended by this process',
      registers,
    }),
    ledgerAnswers: new Counter({
      name: 'loanops_ledger_answers_total',
      help: 'Answers of the ledger, by method, HTTP status and outcome',
      labelNames: ['method', 'status', 'outcome'],
      registers,
    }),
  }
}

function paymentMetrics(registers: Registry[]) {
  return {
    paymentEvents: new Counter({
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
      help: 'Payment events refused because of their signature, by gateway and lender',
      labelNames: ['gateway', 'lender'],
      registers,
    }),
    missedPayments: new Counter({
      name: 'loanops_missed_payments_total',
      help: 'Captured payments that a gateway had and we had not, by gateway',
      labelNames: ['gateway'],
      registers,
    }),
    overpaidRepayments: new Counter({
      name: 'loanops_overpaid_repayments_total',
      help: 'Repayments larger than the amount outstanding on their loan',
      registers,
    }),
    readBack: new Counter({
      name: 'loanops_readback_found_total',
      help: 'Posted payments that were newly found reversed, missing or differing at the ledger',
      labelNames: ['finding'],
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
