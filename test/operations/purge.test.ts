import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { logger } from '../../src/log/log.ts'
import { purgeOperations } from '../../src/operations/operations-feature.ts'
import { purgeQueue } from '../../src/purge/queue.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { matchEach } from '../support/match-each.ts'
import { operate, startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const marked = {
  firstname: 'Marked-Asha',
  lastname: 'Marked-Rao',
  mobileNo: 'Marked-98765',
  emailAddress: 'marked@example.org',
}
const client = { ...marked, externalId: 'C-1', activationDate: '05 January 2026' }

t.test('after retention, a finished operation keeps its result but no personal data', async t => {
  const { call, db } = await startTestService(t)
  const made = await operate(call, 'CLIENT_CREATE', client)
  const changed = await operate(call, 'CLIENT_UPDATE', {
    externalId: 'C-1',
    lastname: 'Marked-Rai',
  })
  const refused = await operate(call, 'CLIENT_CREATE', client)
  matchEach(
    t,
    [made, changed, refused].map(({ status }) => status),
    ['success', 'success', 'failed'],
  )
  t.match(await everything(db), /marked/i)

  t.equal(await purgeOperations(db, 1), 0, 'not before the period ends')
  await sql`update loanops.operation set processed_at = now() - interval '25 hours'`.execute(db)
  t.equal(await purgeOperations(db, 1), 3)
  t.notMatch(await everything(db), /marked/i)
  t.equal(await purgeOperations(db, 1), 0, 'nothing is left to purge')

  const { body } = await call('GET', '/api/ledger/operations?external_id=C-1')
  matchEach(t, body.operations, [
    {
      tracking_id: refused.tracking_id,
      status: 'failed',
      failure_response: { httpStatusCode: '403' },
      error_message: 'Refused with 403; the details have been purged',
    },
    { tracking_id: changed.tracking_id, status: 'success' },
    { tracking_id: made.tracking_id, success_response: made.success_response },
  ])
})

t.test('an unfinished operation keeps all its data, however old it is', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data: client })
  await sql`update loanops.operation set accepted_at = now() - interval '10 years'`.execute(db)
  t.equal(await purgeOperations(db, 1), 0)
  t.match(await everything(db), /Marked-Asha/)
})

for (const setting of ['OPERATION', 'RAW', 'ATTEMPT'].map(kind => `${kind}_RETENTION_DAYS`))
  t.test(`the purge is scheduled while ${setting} is on`, async t => {
    const { db, databaseUrl, ledger } = await startTestService(t, { [setting]: '30' })
    t.equal(await isScheduled(db), true)
    await startAgain(t, databaseUrl, ledger.url)
    t.equal(await isScheduled(db), false)
  })

t.test('a purge removes what each setting names', async t => {
  const { db } = await startTestService(
    t,
    { RAW_RETENTION_DAYS: '30', ATTEMPT_RETENTION_DAYS: '30' },
    { prepare: addOldRows },
  )
  await until(async () => {
    const { rows } = await sql<{ isGone: boolean }>`
      select not exists (select from raw.lender_02_gateway_a)
         and not exists (select from loanops.operation_attempt) as "isGone"`.execute(db)
    return rows[0]?.isGone
  }, 'both are gone')
  const { rows } = await sql`select purged_at from loanops.operation`.execute(db)
  t.same(rows, [{ purged_at: null }], 'the third setting is off')
})

t.test('a purge that fails does not keep the others from running', async t => {
  const { db } = await startTestService(
    t,
    { OPERATION_RETENTION_DAYS: '30' },
    {
      async prepare(db) {
        await addOldRows(db)
        await sql`drop function loanops.purge_approvals`.execute(db)
      },
    },
  )
  await until(async () => {
    const { rows } = await sql`
      select from pgboss.job
       where name = ${purgeQueue.name} and state in ('retry', 'failed')`.execute(db)
    return rows.length === 1
  }, 'its job has failed')
  const { rows } = await sql`
    select purged_at is not null as "isPurged" from loanops.operation`.execute(db)
  t.same(rows, [{ isPurged: true }])
})

t.test('a purge whose worker died is given up, and the next one purges', async t => {
  const { db } = await startTestService(
    t,
    { RAW_RETENTION_DAYS: '30' },
    {
      async prepare(db) {
        await addOldRows(db)
        await sql`
          insert into pgboss.job (name, policy, state, started_on, expire_seconds, heartbeat_on, heartbeat_seconds, retry_limit)
          select name, policy, 'active', now(), expire_seconds, now() - interval '2 minutes', heartbeat_seconds, 0
            from pgboss.queue where name = ${purgeQueue.name}`.execute(db)
      },
    },
  )
  await until(async () => {
    const { rows } = await sql`select from raw.lender_02_gateway_a`.execute(db)
    return rows.length === 0
  }, 'the next one has purged')
  const { rows } = await sql`
    select from pgboss.job where name = ${purgeQueue.name} and state = 'failed'`.execute(db)
  t.equal(rows.length, 1, 'the dead one has failed')
})

t.test('a purge that a stop interrupts is continued by another worker', async t => {
  const { url, db } = await freshDatabase(t)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
    select raw.new_id(), 'LOAN_DELETE', 'api', 'loan:' || n, n, '{}', 'success', now() - interval '40 days'
      from generate_series(1, 20000) n`.execute(db)
  await addPurge(db)
  const ledger = await startSandbox({ port: 0 })
  t.teardown(ledger.close)
  const config = readConfig(testEnv(url, ledger.url, { OPERATION_RETENTION_DAYS: '30' }))
  const some = async (purged: boolean) => {
    const { rows } = await sql`
      select from loanops.operation where (purged_at is not null) = ${purged} limit 1`.execute(db)
    return rows.length === 1
  }
  const first = await startRole(config, logger('silent'))
  await until(() => some(true), 'the purge has begun')
  await first.close()
  t.equal(await some(false), true, 'something is left')
  const { rows } = await sql`
    update pgboss.job set start_after = now() where name = ${purgeQueue.name}
    returning state, output ->> 'message' as message`.execute(db)
  t.match(rows, [{ state: 'retry', message: /^stopped/ }])
  const second = await startRole(config, logger('silent'))
  t.teardown(second.close)
  await until(async () => !(await some(false)), 'the other worker purges the rest')
})

/** A raw event, and a finished operation with its attempt, from forty days ago; and a purge that is due. */
async function addOldRows(db: Database): Promise<void> {
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(db)
  await sql`
    insert into raw.lender_02_gateway_a (id, received_at, body)
    select core.first_id_at(at), at, '{}'
     from (values (now() - interval '40 days')) a (at)`.execute(db)
  await sql`delete from core.pending_event`.execute(db)
  await sql`
    with o as (
      insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
      select core.first_id_at(at), 'LOAN_DELETE', 'api', 'loan:L', 'L', '{}', 'success', at
        from (values (now() - interval '40 days')) a (at)
      returning id, processed_at
    )
    insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, outcome)
    select id, 1, processed_at, processed_at, 'done' from o`.execute(db)
  await addPurge(db)
}

async function addPurge(db: Database): Promise<void> {
  await sql`
    insert into pgboss.job (name, policy, retry_limit, retry_delay)
    select name, policy, retry_limit, retry_delay from pgboss.queue
     where name = ${purgeQueue.name}`.execute(db)
}

/** All rows of operations and their attempts, as text. */
async function everything(db: Database): Promise<string> {
  const { rows } = await sql`
    select row_to_json(o) as o, (select json_agg(a) from loanops.operation_attempt a where operation_id = o.id) as a
      from loanops.operation o`.execute(db)
  return JSON.stringify(rows)
}

async function isScheduled(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pgboss.schedule where name = ${purgeQueue.name}`.execute(db)
  return rows.length === 1
}

async function startAgain(t: Test, databaseUrl: string, ledgerUrl: string): Promise<void> {
  const config = readConfig(testEnv(databaseUrl, ledgerUrl))
  const service = await startRole(config, logger('silent'))
  t.teardown(() => service.close())
}
