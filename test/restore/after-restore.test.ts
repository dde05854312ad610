import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Bearer, bearer, makeAccounts, OPERATOR } from '../support/accounts/admin.ts'
import { gatewaySandbox, requestFetch } from '../support/books/gateways.ts'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { databaseUrl } from '../support/database/template.ts'
import { ending, listed, submit } from '../support/engine/operations.ts'
import {
  approval,
  atLedger,
  clientData,
  control,
  disbursal,
  loanData,
} from '../support/ledger/loans.ts'
import { MAIN } from '../support/main.ts'
import { runBatch } from '../support/payments/payments.ts'
import { outputOf } from '../support/process.ts'
import { type Call, caller, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000

/** A copy of the database, as a back-up that is restored later. @returns its URL */
async function backedUp(url: string): Promise<string> {
  const serverUrl = process.env.TEST_DATABASE_URL as string
  const from = new URL(url).pathname.slice(1)
  const name = `test_restored_${randomBytes(4).toString('hex')}`
  const server = new pg.Client(serverUrl)
  await server.connect()
  try {
    await server.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
      [from],
    )
    await server.query(`create database ${name} template ${from} strategy file_copy`)
  } finally {
    await server.end()
  }
  return databaseUrl(url, name)
}

/** The service on this database while `use` runs. */
async function serving(env: NodeJS.ProcessEnv, use: (call: Call) => Promise<void>): Promise<void> {
  const role = await startRole(readConfig(env), logger('silent'))
  try {
    await use(caller(role.url))
  } finally {
    await role.close()
  }
}

async function command(env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'after-restore', ...args], {
    env: { ...env, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return outputOf(child)
}

async function start(t: Test) {
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const gateways = await gatewaySandbox(t)
  const receiver = await callbackReceiver(t)
  const { url, db } = await freshDatabase(t)
  const settings = { ...gateways.settings, ...receiver.settings }
  const env = (databaseUrl: string) => testEnv(databaseUrl, ledger.url, settings)
  return { ledger, gateways, receiver, url, db, env }
}

async function disbursedLoan(call: Call, loan: string): Promise<void> {
  const client = `C-${loan}`
  for (const [operation, data] of [
    ['CLIENT_CREATE', clientData(client)],
    ['LOAN_CREATE', loanData(loan, client)],
    ['LOAN_APPROVE', approval(loan)],
    ['LOAN_DISBURSE', disbursal(loan)],
  ] as const)
    t.match(await ending(call, await submit(call, operation, data)), { status: 'success' })
}

t.test('payments between a back-up and its restore are fetched; no number is reused', async t => {
  const { ledger, gateways, receiver, url, env } = await start(t)
  const paidAt = new Date(Date.now() - HOUR_MS).toISOString()
  const pay = (id: string) =>
    gateways.put('/payments', [
      { gateway: 'gateway_a', id, amount: 10_000, created_at: paidAt, notes: { loan_id: 'L-1' } },
    ])
  const allPosted = async (call: Call, count: number) =>
    until(async () => {
      await runBatch(call)
      const { body } = await call('GET', '/api/payments?state=posted')
      return body.payments.length === count
    }, `${count} payments are posted`)
  await serving(env(url), async call => {
    await disbursedLoan(call, 'L-1')
    await receiver.attempts(4)
  })
  const since = new Date().toISOString()
  const restored = await backedUp(url)
  await serving(env(url), async call => {
    await disbursedLoan(call, 'L-2')
    await pay('pay_1')
    await requestFetch(call, 'gateway_a', {
      from: new Date(Date.now() - 2 * HOUR_MS).toISOString(),
      to: new Date().toISOString(),
    })
    await allPosted(call, 1)
    await receiver.attempts(9)
  })
  await pay('pay_2')

  const { code, printed } = await command(env(restored), '--since', since)
  t.equal(code, 0)
  t.match(printed, /fetched from gateway_a, gateway_b\./)
  await serving(env(restored), async call => {
    await allPosted(call, 2)
    await ending(call, await submit(call, 'LOAN_APPROVE', approval('L-2')))
    await receiver.attempts(12)
  })
  const { transactions } = await atLedger(
    { ledger },
    'GET',
    '/loans/external-id/L-1?associations=transactions',
  )
  t.equal(transactions.filter((one: any) => one.type.repayment).length, 2, 'each is booked once')
  const numbers = receiver.received.map(({ body: { sequence, data } }) =>
    [data.external_loan_id ?? data.external_id, sequence].join(' '),
  )
  t.equal(new Set(numbers).size, numbers.length, numbers.join(', '))
  t.ok(
    numbers.some(one => /^L-2 100\d$/.test(one)),
    'a loan that the back-up does not know',
  )
})

t.test('with --pause, what was cancelled since the back-up can be cancelled again', async t => {
  const { ledger, url, env } = await start(t)
  let id = ''
  await serving({ ...env(url), ROLE: 'api' }, async call => {
    id = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  })
  const { code, printed } = await command(env(url), '--since', new Date().toISOString(), '--pause')
  t.equal(code, 0)
  t.match(printed, /1 operations, 0 portfolio migrations.*paused now/)
  await serving(env(url), async call => {
    const cancel = `/api/ledger/operations/${encodeURIComponent(id)}/cancel`
    t.equal((await call('POST', cancel)).status, 202)
    t.equal((await call('POST', '/api/ledger/resume')).status, 200)
    await ending(call, await submit(call, 'CLIENT_CREATE', clientData('C-2')))
  })
  const clients = await atLedger({ ledger }, 'GET', '/clients')
  t.same(
    clients.pageItems.map((one: any) => one.externalId),
    ['C-2'],
  )
})

t.test('an operation that was tried before the back-up is not failed unseen', async t => {
  const { ledger, url, db, env } = await start(t)
  await control({ ledger }, 'PUT', '/faults', [{ kind: 'tooMany', match: { on: 'writes' } }])
  let id = ''
  await serving(env(url), async call => {
    id = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
    await until(
      async () => (await listed(call, 'C-1', id)).waiting_for === 'ledger_busy',
      'the ledger does not take it now',
    )
  })
  const acceptedBefore = (interval: string) =>
    sql`update loanops.operation set accepted_at = now() - ${interval}::interval`.execute(db)
  await acceptedBefore('2 days')
  const since = new Date().toISOString()
  const restored = await backedUp(url)
  await acceptedBefore('0')
  await control({ ledger }, 'PUT', '/faults', [])
  await serving(env(url), async call => {
    t.match(await ending(call, id), { status: 'success' })
  })
  const { code, printed } = await command(env(restored), '--since', since)
  t.equal(code, 0)
  t.match(printed, /: 1 operations, 0 portfolio migrations\. They run with the first worker/)
  await serving(env(restored), async call => {
    t.match(await ending(call, id), { status: 'success' })
  })
})

t.test('the report names a pause and bulk decisions that are in the back-up', async t => {
  const { env, url, db } = await start(t)
  const since = new Date().toISOString()
  await sql`
    insert into loanops.bulk (id, decision, filter, actor)
     values (raw.new_id(), 'x', '{}', 'asha')`.execute(db)
  t.match(
    (await command(env(url), '--since', since)).printed,
    /They run with the first worker,.*Bulk decisions .*: 1\. They go on with the first worker/s,
  )
  await sql`
    insert into loanops.ledger_pause (id, reason) values (raw.new_id(), 'maintenance')`.execute(db)
  t.match((await command(env(url), '--since', since)).printed, /They run once the ledger, which is/)
  t.match((await command(env(url), '--since', since, '--pause')).printed, /: 1\. They are stopped/)
  t.notMatch((await command(env(url), '--since', since, '--pause')).printed, 'Bulk decisions')
})

t.test('after-restore waits for statements that take longer than a caller would', async t => {
  const { env, url, db } = await start(t)
  await sql`
    create function slow() returns trigger language plpgsql as $$ begin
      perform pg_sleep(4.5); return null; end $$`.execute(db)
  await sql`create trigger slow before update on loanops.callback_subject execute function slow()`.execute(
    db,
  )
  const { code } = await command(env(url), '--since', new Date().toISOString())
  t.equal(code, 0)
})

t.test('a token that may have been ended since the back-up opens nothing', async t => {
  const { env, url, db } = await start(t)
  await makeAccounts(db, { operator: OPERATOR })
  const statuses: number[] = []
  const look = async (call: Call, token: Bearer) =>
    statuses.push((await call('GET', '/api/ledger/operations', undefined, token)).status)
  const settings = { ...env(url), ROLE: 'api' }
  await serving(settings, async call => {
    const token = await bearer(call, OPERATOR)
    await look(call, token)
    t.equal((await command(env(url), '--since', new Date().toISOString())).code, 0)
    await look(call, token)
    await look(call, await bearer(call, OPERATOR))
  })
  t.same(statuses, [200, 401, 200])
})

t.test('the command says what is wrong with its time', async t => {
  const { env, url } = await start(t)
  for (const since of [
    [],
    ['--since', 'yesterday'],
    ['--since', '2026-11-20T02:00:00'],
    ['--since', '2020-01-01T00:00:00Z'],
  ]) {
    const { code, said } = await command(env(url), ...since)
    t.equal(code, 1)
    t.match(said, /--since must be the time of the back-up/)
  }
})
