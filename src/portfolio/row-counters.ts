import { Counter, type Registry } from 'prom-client'

export function rowCounters(registers: Registry[]) {
  return {
    finished: new Counter({
      name: 'loanops_migration_rows_total',
      help: 'Finished rows of uploaded portfolios, by state',
      labelNames: ['state'],
      registers,
    }),
  }
}
