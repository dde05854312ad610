import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { ending, hurry, listed, submit } from '../../support/engine/operations.ts'
import { clientData, newName } from '../../support/ledger/loans.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { ownLoan, paymentService } from '../../support/payments/payments.ts'
import {
  type Call,
  caller,
  startTestService,
  type TestService,
  testEnv,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

const REFUSED = /the ledger refuses its user or the password/

/** How often this process has sent a login that the ledger refused. */
async function refusals(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = text.matchAll(/^loanops_ledger_answers_total\{.*status="401".*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Submits so many clients at once. */
const clients = (service: TestService, count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const client = newName('C')
      return { client, id: await submit(service.call, 'CLIENT_CREATE', clientData(client)) }
    }),
  )

const faults = ({ ledger }: TestService, rules: object[]) =>
  fetch(`${ledger.controlUrl}/faults`, { method: 'PUT', body: JSON.stringify(rules) })

async function refusedService(t: Parameters<typeof startTestService>[0]) {
  const service = await startTestService(t)
  await faults(service, [{ kind: 'unauthorized' }])
  const submitted = await clients(service, 20)
  await until(async () => {
    const all = await Promise.all(
      submitted.map(({ client, id }) => listed(service.call, client, id)),
    )
    return all.every(
      one => one.waiting_for === 'ledger_credentials' && REFUSED.test(one.last_error),
    )
  }, 'all say what they wait for')
  t.match((await service.call('GET', '/readyz')).body.ledger, {
    circuit: 'open',
    last_error: REFUSED,
  })
  return { ...service, submitted }
}

t.test('a login that the ledger refuses is sent a few times, not once per operation', async t => {
  const service = await refusedService(t)
  // Four calls may have been under way, and one read tested the login at once.
  t.ok((await refusals(service.url)) <= 6)
  await faults(service, [])
  t.equal((await service.call('POST', '/api/ledger/check')).status, 200)
  for (const { id } of service.submitted)
    t.match(await ending(service.call, id), { status: 'success' })
})

t.test('an operator’s retry finds out that the login is right again', async t => {
  const service = await refusedService(t)
  await faults(service, [])
  const id = service.submitted[0]?.id ?? ''
  const path = `/api/ledger/operations/${encodeURIComponent(id)}/resolve`
  t.equal((await service.call('POST', path, { outcome: 'retry' })).status, 202)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('a process with a wrong password leaves the work to the others', async t => {
  const service = await startTestService(t)
  const changes = { ROLE: 'worker', LEDGER_PASSWORD: 'wrong' }
  const config = readConfig(testEnv(service.databaseUrl, service.ledger.url, changes))
  const since = performance.now()
  const wrong = await startRole(config, logger('silent'))
  t.teardown(wrong.close)
  const submitted = await clients(service, 20)
  const isFinal = async ({ client, id }: (typeof submitted)[number]) =>
    (await listed(service.call, client, id)).status === 'success'
  await until(async () => {
    const final = await Promise.all(submitted.map(isFinal))
    // Operations whose login was refused, four at most, are tried again after a minute.
    return final.filter(Boolean).length >= submitted.length - 4
  }, 'the others do it')
  const minutes = (performance.now() - since) / 60_000
  // Beside these four, one read tests the login at once, and one each minute.
  t.ok((await refusals(wrong.url)) <= 5 + minutes)
  t.equal(await refusals(service.url), 0)
})

t.test('a refusal of one call alone holds nothing else up', async t => {
  const service = await startTestService(t)
  const [{ client, id: refused }] = (await clients(service, 1)) as [{ client: string; id: string }]
  await ending(service.call, refused)
  await faults(service, [{ kind: 'unauthorized', match: { on: 'writes', externalId: client } }])
  const update = { externalId: client, firstname: 'Other' }
  const id = await submit(service.call, 'CLIENT_UPDATE', update)
  const waiting = await until(async () => {
    const one = await listed(service.call, client, id)
    return one.waiting_for === 'ledger_credentials' && one
  }, 'it waits')
  t.ok(Date.parse(waiting.next_try_at) > Date.now() + 50_000, 'tried again once a minute')
  for (const { id: other } of await clients(service, 5))
    t.match(await ending(service.call, other), { status: 'success' })
  await faults(service, [])
  await hurry(service, id)
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('an api reads the ledger again once any check finds the login right', async t => {
  const service = await paymentService(t)
  const { id, loan } = await ownLoan(service)
  await service.webhook('gateway_a', capturedA({ id, loan }))
  await service.batch()
  await service.ended(id)
  const config = readConfig(testEnv(service.databaseUrl, service.ledger.url, { ROLE: 'api' }))
  const starts = await Promise.all([
    startRole(config, logger('silent')),
    startRole(config, logger('silent')),
  ])
  for (const { close } of starts) t.teardown(close)
  const [one, other] = starts.map(({ url }) => caller(url)) as [Call, Call]
  const check = async (call: Call) =>
    (await call('POST', `/api/payments/gateway_a/${id}/check`)).status
  await service.faults([{ kind: 'unauthorized' }])
  // The second one tests the login at once, because the first may have been refused alone.
  for (const call of [one, one, other, other]) t.equal(await check(call), 503)
  await service.faults([])
  t.equal(await check(one), 503, 'a login that was refused twice is not sent with each call')
  t.equal((await one('POST', '/api/ledger/check')).status, 200)
  for (const call of [one, other]) t.equal(await check(call), 200)
})
