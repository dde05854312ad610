import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { clientData, newName } from '../support/ledger/loans.ts'
import { firing, lasting, QUIET_MINUTES, type Target } from '../support/ops/alerts.ts'
import { caller, operate, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('no alert fires on a healthy system, and one does when part of it is down', async t => {
  const { calm, call, stopLedger } = await startTargets(t)
  const idle = await calm()
  const quiet = lasting(idle, QUIET_MINUTES)
  t.same(firing(quiet), [], 'idle')
  await operate(call, 'CLIENT_CREATE', clientData(newName('C')))
  const busy = [...quiet, ...lasting(await calm(), 30)]
  t.same(firing(busy), [], 'busy')

  const without = (...down: string[]) =>
    idle.map(target => (down.includes(target.instance) ? { ...target, text: '' } : target))
  const unlisted = (...down: string[]) => idle.filter(({ instance }) => !down.includes(instance))
  const after = (left: Target[]) => firing([...quiet, ...lasting(left, 10)])
  for (const left of [without, unlisted]) {
    t.same(after(left('worker-1')), ['LoanopsProcessDown'], 'one of two workers')
    t.same(after(left('api-1')), ['LoanopsProcessDown'], 'one of two apis')
    t.has(after(left('worker-1', 'worker-2')), ['LoanopsNoMetrics'], 'every worker')
    t.has(after(left('api-1', 'api-2')), ['LoanopsNoApi'], 'every api')
    t.has(after(left(...idle.map(({ instance }) => instance))), [
      'LoanopsNoMetrics',
      'LoanopsNoApi',
    ])
  }

  for (const seconds of [-6, 6]) {
    const line = /^(loanops_clock_difference_seconds) .*$/m
    const skewed = idle.map(({ instance, text }) => ({
      instance,
      text: instance === 'worker-1' ? text.replace(line, `$1 ${seconds}`) : text,
    }))
    t.same(after(skewed), ['LoanopsClockDiffers'], `a clock that differs by ${seconds} s`)
  }

  await stopLedger()
  for (let i = 0; i < 5; i++)
    await call('POST', '/api/ledger/operate', {
      status: 'CLIENT_CREATE',
      data: clientData(newName('C')),
    })
  const cutOff = await until(async () => {
    const now = await calm()
    return now.some(({ text }) => /^loanops_ledger_breaker_open 1$/m.test(text)) && now
  })
  t.has(after(cutOff), ['LoanopsLedgerDown'], 'a ledger that is down')
})

t.test('an alert fires while a role cannot reach the database, though intake goes on', async t => {
  const { targets, calm, call, database } = await startTargets(t)
  const idle = await calm()
  database.goAway()
  const { status } = await call('POST', '/api/ledger/operate', {
    status: 'CLIENT_CREATE',
    data: clientData(newName('C')),
  })
  t.equal(status, 202)
  const cutOff = await until(async () => {
    const now = await targets()
    return now.some(({ text }) => /^loanops_ready\{role="worker"\} 0$/m.test(text)) && now
  })
  const history = (now: Target[]) => [...lasting(idle, QUIET_MINUTES), ...lasting(now, 10)]
  t.has(firing(history(cutOff)), ['LoanopsNotReady', 'LoanopsProcessNotReady'])
  const oneOfTwo = cutOff.filter(({ instance }) => instance === 'worker-1')
  const others = idle.filter(({ instance }) => instance !== 'worker-1')
  t.same(
    firing(history([...others, ...oneOfTwo])),
    ['LoanopsProcessNotReady'],
    'one of two workers',
  )
  database.comeBack()
  await until(async () =>
    (await targets()).every(({ text }) => /^loanops_ready\{.*\} 1$/m.test(text)),
  )
})

const MEASURED = [
  'loanops_queue_jobs{',
  'loanops_payment_lag_seconds ',
  'loanops_operations_unfinished{',
]
const BUSY = /^loanops_(ready\{.*\} 0|pool_connections\{.*state="waiting"\} [1-9].*)$/m
/** In a healthy system, somebody has decided about each gateway's events. */
const LENDERS_DEFAULT = '{"trust": "unverified"}'

/** What two apis and two workers export: of each role, one is running, and counted twice. `database` is the worker's way. */
async function startTargets(t: Test) {
  const { url } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  const database = await startPostgresProxy(t, url)
  const start = (ROLE: string, url: string) =>
    startRole(readConfig(testEnv(url, ledger.url, { ROLE, LENDERS_DEFAULT })), logger('silent'))
  const [api, worker] = await Promise.all([start('api', url), start('worker', database.url)])
  let isLedgerUp = true
  const stopLedger = async () => {
    if (isLedgerUp) await ledger.close()
    isLedgerUp = false
  }
  t.teardown(async () => {
    await Promise.all([api.close(), worker.close(), stopLedger()])
  })
  const metrics = async (url: string) => (await fetch(`${url}/metrics`)).text()
  for (const figure of MEASURED)
    await until(async () => (await metrics(worker.url)).includes(figure), figure)
  const targets = async (): Promise<Target[]> => {
    const texts = { api: await metrics(api.url), worker: await metrics(worker.url) }
    return Object.entries(texts).flatMap(([role, text]) =>
      [1, 2].map(i => ({ instance: `${role}-${i}`, text })),
    )
  }
  /** On a busy machine, one scrape may see what ends within seconds. */
  const calm = () =>
    until(async () => {
      const now = await targets()
      return !now.some(({ text }) => BUSY.test(text)) && now
    })
  return { targets, calm, call: caller(api.url), stopLedger, database }
}
