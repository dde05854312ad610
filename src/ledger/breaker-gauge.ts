import { Gauge, type Registry } from 'prom-client'
import type { Breaker } from './breaker.ts'

/** Tells the breaker's state at the moment of the question. */
export function breakerGauge(registry: Registry, breaker: Breaker): void {
  new Gauge({
    name: 'loanops_ledger_breaker_open',
    help: '1 while the ledger is taken for down, and asked by one probe at a time',
    registers: [registry],
    collect() {
      this.set(breaker.isOpen() ? 1 : 0)
    },
  })
}
