import { Gauge, type Registry } from 'prom-client'
import type { Breaker } from './breaker.ts'

export function breakerGauge(registry: Registry, breaker: Breaker): void {
  new Gauge({
    name: 'loanops_ledger_breaker_open',
    help: '1 while the ledger is down or fails for loan after loan, and only a few calls test whether it has recovered',
    registers: [registry],
    collect() {
      this.set(breaker.isOpen() ? 1 : 0)
    },
  })
}
