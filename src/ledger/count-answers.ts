import { Counter, type Registry } from 'prom-client'
import type { Ledger } from './client.ts'

export function countAnswers(registry: Registry, ledger: Ledger): void {
  const answers = new Counter({
    name: 'loanops_ledger_answers_total',
    help: 'The ledger’s responses, by method, HTTP status and outcome',
    labelNames: ['method', 'status', 'outcome'],
    registers: [registry],
  })
  ledger.onAnswer(({ method, status, outcome }) =>
    answers.inc({ method, status: status ?? 'none', outcome }),
  )
}
