import { Gauge, type Registry } from 'prom-client'
import type { Slots } from './slots.ts'

export function slotsGauge(registry: Registry, slots: Slots): void {
  new Gauge({
    name: 'loanops_ledger_slots',
    help: 'Slots for ledger calls of this process, by lane: allowed, busy, and tasks waiting for one',
    labelNames: ['lane', 'state'],
    registers: [registry],
    collect() {
      for (const lane of ['live', 'bulk'] as const) {
        this.set({ lane, state: 'allowed' }, slots.most[lane])
        this.set({ lane, state: 'busy' }, slots.busy(lane))
        this.set({ lane, state: 'waiting' }, slots.waiting(lane))
      }
    },
  })
}
