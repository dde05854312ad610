import { Gauge, type Registry } from 'prom-client'
import type { Pauses } from './pause.ts'

/** Reports at the time of the scrape what this process knows. */
export function pauseGauge(registry: Registry, pauses: Pauses): void {
  new Gauge({
    name: 'loanops_ledger_paused',
    help: '1 while an operator has paused writes at the ledger',
    registers: [registry],
    collect() {
      this.set(pauses.isPaused() ? 1 : 0)
    },
  })
}
