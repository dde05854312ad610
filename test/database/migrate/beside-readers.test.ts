import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { allQueues } from '../../../src/worker.ts'
import { copiedMigrate } from '../../support/database/copied-migrate.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { connected } from '../../support/database/separate-postgres.ts'
import { untilSessionsWait } from '../../support/database/sessions.ts'
import { databaseUrl } from '../../support/database/template.ts'
import { ending, submit } from '../../support/engine/operations.ts'
import { clientData } from '../../support/ledger/loans.ts'
import { MAIN } from '../../support/main.ts'
import { processEnv } from '../../support/process.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const READER = 'a-report'

const named = (url: string) => {
  const reader = new URL(url)
  reader.searchParams.set('application_name', READER)
  return reader.href
}

t.test('while a reader holds migrate up, work goes on, and migrate says who reads', async t => {
  const { db, call, databaseUrl: url } = await startTestService(t)
  const ownerUrl = databaseUrl(
    process.env.TEST_DATABASE_URL as string,
    new URL(url).pathname.slice(1),
  )
  const reader = await connected(t, named(ownerUrl))
  await reader.query('begin; select from ops.ledger_pause')
  const migrating = spawn(process.execPath, [MAIN, 'migrate'], {
    env: { ...processEnv, DATABASE_URL: ownerUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => migrating.kill('SIGKILL'))
  const ended = once(migrating, 'exit')
  let said = ''
  migrating.stdout.on('data', text => {
    said += text
  })
  await untilSessionsWait(db, { name: 'loanops-migrate' })
  const operation = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  t.match(await ending(call, operation), { status: 'success' })
  await until(async () => said.includes(READER), 'migrate says who reads')
  t.equal((await call('GET', '/readyz')).status, 200)
  await reader.query('rollback')
  t.same(await ended, [0, null])
})

t.test('a reader that waits for a migrate that waits for it is not ended', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const reader = await connected(t, ownerUrl)
  await reader.query('begin; select from ops.operation_attempt')
  const migrating = migrate(ownerUrl, allQueues)
  await untilSessionsWait(db, { name: 'loanops-migrate' })
  // The same file has replaced this view before.
  await t.resolves(reader.query('select from ops.ledger_pause'))
  await reader.query('rollback')
  await t.resolves(migrating)
})

t.test('the previous version works on while migrate waits between tables and views', async t => {
  const { db, ownerUrl } = await freshDatabase(t)
  const newer = await copiedMigrate(t.testdir({}), migrations => {
    writeFileSync(
      `${migrations}/999-later.sql`,
      'alter table core.transaction add column later boolean',
    )
    // Views come in the order of their files' names.
    appendFileSync(
      `${migrations}/views/accounts.sql`,
      'create or replace view ops.early as select 1 as number',
    )
  })
  const hasEarly = async () => {
    const { rows } = await sql<{ name: string | null }>`
      select to_regclass('ops.early')::text as name`.execute(db)
    return rows[0]?.name === 'ops.early'
  }
  const worker = await connected(t, ownerUrl)
  const work = () => worker.query('select core.twin_of(null::core.transaction)')
  await work()
  const reader = await connected(t, ownerUrl)
  await reader.query('begin; select from ops.queue')
  const migrating = newer.migrate(ownerUrl, allQueues)
  await untilSessionsWait(db, { name: 'loanops-migrate' })
  t.notOk(await hasEarly(), 'views are new together')
  await t.resolves(work(), 'a session takes rows with the new column')
  await reader.query('rollback')
  await migrating
  t.ok(await hasEarly())
})

t.test('migrate changes tables beside a procedure that somebody made', async t => {
  const { ownerUrl } = await freshDatabase(t)
  const newer = await copiedMigrate(t.testdir({}), migrations =>
    writeFileSync(
      `${migrations}/999-later.sql`,
      'alter table core.transaction add column later boolean',
    ),
  )
  const person = await connected(t, ownerUrl)
  await person.query(
    'create procedure ops.nightly_report() language plpgsql as $$ begin null; end $$',
  )
  await t.resolves(newer.migrate(ownerUrl, allQueues))
})
