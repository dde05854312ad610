import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { ledgerPath } from '../../../src/ledger/calls/path.ts'
import { passHungCalls } from '../../../src/ledger/slots/hung-calls.ts'
import { openSlots } from '../../../src/ledger/slots/slots.ts'
import { openMetrics } from '../../../src/ops/metrics.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { openPath } from '../../support/path.ts'
import { NO_DATABASE, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SLOTS = 2
const HUNG_AFTER_MS = 200

t.test('calls whose connections died show in the metrics long before they end', async t => {
  const { slots, unansweredSeconds } = await withHungCalls(t)
  await until(async () => (await unansweredSeconds()) > (2 * HUNG_AFTER_MS) / 1_000)
  t.equal(slots.free('live'), 0)
})

t.test('calls that ended without an answer still show while they are repeated', async t => {
  const { ledger, hung, unansweredSeconds } = await withHungCalls(t)
  await until(async () => (await unansweredSeconds()) > HUNG_AFTER_MS / 1_000)
  await ledger.cutOff()
  await Promise.all(hung)
  t.ok((await unansweredSeconds()) > HUNG_AFTER_MS / 1_000)
})

t.test('calls that hang one after the other show for as long as they do together', async t => {
  const timeoutMs = 1_500
  const { path, ask, hung, unansweredSeconds } = await withHungCalls(t, timeoutMs)
  await Promise.all(hung)
  await ask()
  const together = (2 * timeoutMs) / 1_000
  t.ok((await unansweredSeconds()) > together)
  path.heal()
  await until(async () => (await ask())?.outcome === 'done')
  t.ok((await unansweredSeconds()) < together, 'once the ledger answers, each counts for itself')
})

t.test('hung calls hold up neither others nor a probe once the ledger can be reached', async t => {
  const { path, ledger, ask } = await withHungCalls(t)
  const next = ask()
  const probe = ledger.probe()
  path.heal()
  t.match(await next, { outcome: 'done' })
  t.equal(await probe, true)
  t.match(await Promise.all([ask(), ask(), ask()]), Array(3).fill({ outcome: 'done' }))
})

t.test('hung calls end with their connections, and free no slot twice', async t => {
  const { path, ledger, slots, ask, hung } = await withHungCalls(t)
  path.heal()
  t.match(await ask(), { outcome: 'done' }, 'in a slot that replaces one of theirs')
  await ledger.cutOff()
  t.same(await Promise.all(hung), [undefined, undefined])
  t.equal(slots.free('live'), SLOTS)
})

t.test('no more slots are replaced than a process has', async t => {
  const slots = openSlots(SLOTS)
  const ends = Array.from({ length: 3 * SLOTS }, () => Promise.withResolvers<void>())
  let running = 0
  const tasks = ends.map(({ promise }) =>
    slots.run('live', () => {
      running++
      return promise
    }),
  )
  await until(async () => running === SLOTS)
  slots.replace(0)
  await until(async () => running === 2 * SLOTS)
  slots.replace(0)
  t.equal(slots.busy('live'), SLOTS)
  t.equal(slots.waiting('live'), SLOTS)
  for (const { resolve } of ends) resolve()
  await Promise.all(tasks)
  t.equal(slots.free('live'), SLOTS)
})

/** A ledger, the path to it, and a call in every slot whose connection has died silently. */
async function withHungCalls(t: Test, timeoutMs = 30_000) {
  const sandbox = await startSandbox({ port: 0 })
  const { hostname, port } = new URL(sandbox.url)
  const path = await openPath({ host: hostname, port: Number(port) })
  const url = Object.assign(new URL(sandbox.url), { port: String(path.port) }).href
  const env = { LEDGER_TIMEOUT_MS: String(timeoutMs), LEDGER_CONCURRENCY: String(SLOTS) }
  const { unanswered, registry } = openMetrics()
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url, env)), call =>
    unanswered.during('ledger', call),
  )
  const slots = openSlots(SLOTS)
  const passing = passHungCalls(ledger, slots, { warn() {} }, HUNG_AFTER_MS)
  t.teardown(async () => {
    await passing.stop()
    await ledger.cutOff()
    path.close()
    await sandbox.close()
  })
  const ask = () =>
    slots.run('live', () => ledger.read(ledgerPath(['paymenttypes']))).catch(() => undefined)
  const unansweredSeconds = async () => {
    const text = await registry.metrics()
    return Number(/^loanops_unanswered_seconds\{of="ledger"\} (\S+)/m.exec(text)?.[1])
  }
  await Promise.all([ask(), ask()])
  t.equal(await unansweredSeconds(), 0)
  path.inflict('silent', 'both')
  const hung = [ask(), ask()]
  return { path, ledger, slots, ask, hung, unansweredSeconds }
}
