import { sql } from 'kysely'
import t from 'tap'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { migrateCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { makePortfolio } from '../support/portfolio/portfolio.ts'
import { loansCsv as loansRows } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('the end of a portfolio run is reported as its migration; a dry run’s is not', async t => {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, {
    ...receiver.settings,
    CALLBACK_EVENTS: 'migration.completed,migration.cancelled',
  })
  const { loansCsv } = makePortfolio({ clients: 2, loans: 3, repayments: 0 }, 1)
  const { body } = await uploadCsv(service, 'loans', loansCsv)
  const path = `/api/migration/${body.migration_id}`
  const run = (more: object) =>
    service.call('POST', '/api/migration/run', { migration_id: body.migration_id, ...more })
  await run({ dry_run: true })
  await until(async () => (await service.call('GET', path)).body.status === 'uploaded')
  await run({})
  await until(async () => (await service.call('GET', path)).body.status === 'completed')
  const [first] = await receiver.attempts(1)
  const { body: migration } = await service.call('GET', path)
  t.match(first?.body, {
    type: 'migration.completed',
    sequence: 1,
    data: { ...migration, file_name: null },
  })
  const { body: listed } = await service.call('GET', '/api/callbacks')
  t.equal(listed.callbacks.length, 1)
  t.equal(listed.callbacks[0].subject, `migration:${body.migration_id}`)
})

t.test('a migration that was discarded before it was reported holds up no callback', async t => {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, receiver.settings)
  const { loansCsv } = makePortfolio({ clients: 1, loans: 1, repayments: 0 }, 1)
  const { body } = await uploadCsv(service, 'loans', loansCsv)
  const id: string = body.migration_id
  await service.db.transaction().execute(async trx => {
    // Nothing is numbered meanwhile.
    await sql`select loanops.lock_callbacks()`.execute(trx)
    await service.db.transaction().execute(async run => {
      for (const status of ['running', 'cancelled'])
        await sql`
          update loanops.migration set status = ${status}, started_at = now(), ended_at = now()
           where id = ${id}`.execute(run)
    })
    t.equal((await service.call('DELETE', `/api/migration/${id}`)).status, 204)
  })
  const [first] = await receiver.attempts(1)
  t.match(first?.body, {
    type: 'migration.cancelled',
    data: { migration_id: id, status: 'cancelled', dry_run: null },
  })
})

t.test('a migration’s callback contains no dry-run differences', async t => {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, receiver.settings)
  await migrateCsv(
    service,
    'loans',
    loansRows({ loan_external_id: 'A', client_firstname: 'Ashalata' }),
  )
  const other = loansRows({ loan_external_id: 'B', client_firstname: 'Chandrika' })
  const { dry_run } = await migrateCsv(service, 'loans', other, { dry_run: true })
  t.match(dry_run.findings, [{ reason: /Chandrika/ }])
  const run = {
    migration_id: (await service.call('GET', '/api/migration')).body.migrations[0].migration_id,
  }
  await service.call('POST', '/api/migration/run', run)
  const received = await receiver.attempts(2)
  t.match(received[1]?.body.data.dry_run, { findings: [{ finding: 'differs', reason: null }] })
  t.notMatch(received.map(({ text }) => text).join(), /Chandrika|Ashalata/)
})
