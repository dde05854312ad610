import { Gauge, type Registry } from 'prom-client'
import { type Databases, poolUse } from '../database/database.ts'

export function poolGauge(registry: Registry, pools: Databases): void {
  new Gauge({
    name: 'loanops_pool_connections',
    help: 'Connections to PostgreSQL by pool and state; "waiting" counts callers waiting for one',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, db] of Object.entries(pools))
        for (const [state, count] of Object.entries(poolUse(db))) this.set({ pool, state }, count)
    },
  })
}
