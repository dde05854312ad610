import { Counter, type Registry } from 'prom-client'

export function readbackCounters(registers: Registry[]) {
  return {
    found: new Counter({
      name: 'loanops_readback_found_total',
      help: 'Posted payments that were newly found reversed, missing or differing at the ledger',
      labelNames: ['finding'],
      registers,
    }),
  }
}
