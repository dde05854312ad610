import { Counter, type Registry } from 'prom-client'

export function callbackCounters(registers: Registry[]) {
  return {
    attempts: new Counter({
      name: 'loanops_callback_attempts_total',
      help: 'Attempts to deliver a callback, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
  }
}
