import { Gauge, type Registry } from 'prom-client'
import { version } from '../config/version.ts'

/** Shows Prometheus which processes there are, whatever they are doing, and what each runs. */
export function processGauge(registry: Registry, role: string): void {
  new Gauge({
    name: 'loanops_process',
    help: '1 for each process, by its role',
    labelNames: ['role'],
    registers: [registry],
  }).set({ role }, 1)
  new Gauge({
    name: 'loanops_build_info',
    help: '1 for each process, by the versions of LoanOps and Node that it runs',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1)
}
