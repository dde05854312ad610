import { Gauge, type Registry } from 'prom-client'
import type { Pauses } from './pause.ts'

/** The gauge shows what this process knows and acts on, rather than what the database says. */
export function pauseGauge(registry: Registry, pauses: Pauses): void {
  new Gauge({
    name: 'loanops_ledger_paused',
    help: '1 while an operator has paused writes to the ledger',
    registers: [registry],
    collect() {
      this.set(pauses.isPaused() ? 1 : 0)
    },
  })
}
