import { Gauge, type Registry } from 'prom-client'

/** Shows Prometheus which processes there are, whatever they are doing. */
export function processGauge(registry: Registry, role: string): void {
  new Gauge({
    name: 'loanops_process',
    help: '1 for each process, by its role',
    labelNames: ['role'],
    registers: [registry],
  }).set({ role }, 1)
}
