import { Counter, type Registry } from 'prom-client'
import type { Feature } from '../engine/feature.ts'
import { purgeOperations } from './purge-operations.ts'

const MAX_NAMES = 100
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/

export function operationCounters(registers: Registry[]) {
  const counter = new Counter({
    name: 'loanops_ignored_members_total',
    help: 'Unknown members of operations that UNKNOWN_FIELDS=ignore dropped, by member; other: names after the first hundred, and those with unusual characters',
    labelNames: ['member'],
    registers,
  })
  const names = new Set<string>()

  return {
    ignored(members: string[]): void {
      for (const name of members) {
        if (names.size < MAX_NAMES && PLAIN_NAME.test(name)) names.add(name)
        counter.inc({ member: names.has(name) ? name : 'other' })
      }
    },
  }
}

export const operationsFeature: Feature = {
  purge: { setting: 'OPERATION_RETENTION_DAYS', kind: 'operations', run: purgeOperations },
}
