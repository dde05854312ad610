import { Counter, Gauge, type Registry } from 'prom-client'
import { version } from '../config/version.ts'
import { type Databases, poolUse } from '../database/database.ts'
import type { Ledger } from '../ledger/calls/client.ts'
import { LANES, type Lane, type Slots } from '../ledger/slots/slots.ts'
import type { Pauses } from './pause.ts'

type Parts = { role: string; pools: Databases; ledger: Ledger; slots: Slots; pauses: Pauses }
type Series = [labels: Record<string, string>, value: number]

/** Metrics of what this process itself knows and acts on, rather than of what the database says. */
export function openProcessMetrics(
  registers: Registry[],
  { role, pools, ledger, slots, pauses }: Parts,
): void {
  countAnswers(registers, ledger)
  const show = (name: string, help: string, labelNames: string[], series: () => Series[]) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const [labels, value] of series()) this.set(labels, value)
      },
    })

  show('loanops_process', '1 for each process, by its role', ['role'], () => [[{ role }, 1]])
  show(
    'loanops_build_info',
    '1 for each process, by the versions of LoanOps and Node that it runs',
    ['version', 'node'],
    () => [[{ version, node: process.versions.node }, 1]],
  )
  show(
    'loanops_pool_connections',
    'Connections to PostgreSQL by pool and state; "waiting" counts callers waiting for one',
    ['pool', 'state'],
    () => Object.entries(pools).flatMap(([pool, db]) => seriesOf({ pool }, poolUse(db))),
  )
  show('loanops_ledger_paused', '1 while an operator has paused writes to the ledger', [], () => [
    [{}, Number(pauses.isPaused())],
  ])
  show(
    'loanops_ledger_breaker_open',
    '1 while the ledger is down or fails for loan after loan, and only a few calls test whether it has recovered',
    [],
    () => [[{}, Number(ledger.breaker.isOpen())]],
  )
  show(
    'loanops_ledger_slots',
    'Slots for ledger calls of this process, by lane: allowed, busy, and tasks waiting for one',
    ['lane', 'state'],
    () => LANES.flatMap(lane => seriesOf({ lane }, slotUse(slots, lane))),
  )
}

function countAnswers(registers: Registry[], ledger: Ledger): void {
  const answers = new Counter({
    name: 'loanops_ledger_answers_total',
    help: 'The ledger’s responses, by method, HTTP status and outcome',
    labelNames: ['method', 'status', 'outcome'],
    registers,
  })
  ledger.onAnswer(({ method, status, outcome }) =>
    answers.inc({ method, status: status ?? 'none', outcome }),
  )
}

const slotUse = (slots: Slots, lane: Lane) => ({
  allowed: slots.most[lane],
  busy: slots.busy(lane),
  waiting: slots.waiting(lane),
})

const seriesOf = (of: Record<string, string>, states: Record<string, number>) =>
  Object.entries(states).map(([state, value]): Series => [{ ...of, state }, value])
