import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { allQueues } from '../../../src/worker.ts'
import { callbackReceiver } from '../../support/callbacks/callback-receiver.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { databaseUrl } from '../../support/database/template.ts'
import { withClient } from '../../support/database/with-client.ts'
import { attemptsOf, ending, submit } from '../../support/engine/operations.ts'
import { clientData, control } from '../../support/ledger/loans.ts'
import { NO_LEDGER, startTestService, testEnv } from '../../support/service.ts'

const ODD = {
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'America/New_York',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  extra_float_digits: '-10',
  default_transaction_isolation: 'serializable',
  quote_all_identifiers: 'on',
}

t.test('a database with settings of its own loses no time, retry or callback', async t => {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, receiver.settings, {
    prepare: db => nameOf(db).then(name => makeOdd(db, name)),
  })
  await control(service, 'PUT', '/faults', [
    { kind: 'error', status: 503, times: 1, match: { on: 'writes', externalId: 'C-1' } },
  ])
  await service.call('POST', '/api/ledger/pause', { reason: 'test' })
  const id = await submit(service.call, 'CLIENT_CREATE', clientData('C-1'))
  await service.call('POST', '/api/ledger/resume')

  const record = await ending(service.call, id)
  t.match(record, { status: 'success', processed_at: /^\d{4}-\d\d-\d\dT[\d:.]{12}$/ })
  t.equal((await attemptsOf(service, id)).length, 2)
  const { body } = await service.call('GET', '/api/ledger/operations?external_id=C-1')
  t.match(body.operations, [{ accepted_at: /^\d{4}-\d\d-\d\dT/ }])
  await receiver.attempts(1)
})

t.test('a database with settings of its own is migrated', async t => {
  const url = await newDatabase(t, ODD)
  await t.resolves(migrate(url, allQueues))
  await withClient(url, async client => {
    const { rows } = await client.query(
      `select proname from pg_proc where prosecdef and has_function_privilege('public', oid, 'execute')`,
    )
    t.same(rows, [], 'nobody but the service may call what runs as the owner')
  })
})

for (const role of ['api', 'worker', 'migrate'] as const)
  t.test(`role ${role} refuses a database that is not UTF-8, in one sentence`, async t => {
    const url = await newDatabase(t)
    const start = async (): Promise<unknown> => {
      if (role === 'migrate') return migrate(url, allQueues)
      const env = testEnv(url, NO_LEDGER, { ROLE: role })
      return startRole(readConfig(env), logger('silent'))
    }
    await t.rejects(start(), {
      message:
        'The database’s encoding is LATIN1: LoanOps needs one that was created with the encoding UTF8',
    })
  })

async function nameOf(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
  return (rows[0] as { name: string }).name
}

async function makeOdd(db: Database, name: string, settings: object = ODD): Promise<void> {
  for (const [setting, value] of Object.entries(settings))
    await sql`alter database ${sql.id(name)} set ${sql.id(setting)} = ${sql.lit(value)}`.execute(db)
}

/** A database without settings of its own has an encoding of its own. */
async function newDatabase(t: Test, settings?: object): Promise<string> {
  const { db, ownerUrl } = await freshDatabase(t)
  const name = `test_${randomBytes(6).toString('hex')}`
  const encoding = settings === undefined ? 'LATIN1' : 'UTF8'
  await sql`create database ${sql.id(name)} template template0 encoding ${sql.lit(encoding)} locale 'C'`.execute(
    db,
  )
  if (settings !== undefined) await makeOdd(db, name, settings)
  return databaseUrl(ownerUrl, name)
}
