import { Gauge, type Registry } from 'prom-client'
import type { Breaker } from './breaker.ts'

/** Tells the breaker's state at the moment of the question. */
export function breakerGauge(registry: Registry, breaker: Breaker): void {
  new Gauge({
    name: 'loanops_ledger_breaker_open',
    help: '1 while the ledger is down or fails for one loan after the other, and only few calls try whether it is back',
    registers: [registry],
    collect() {
      this.set(breaker.isOpen() ? 1 : 0)
    },
  })
}
