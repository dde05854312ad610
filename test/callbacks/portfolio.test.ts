import t from 'tap'
import { callbackReceiver } from '../support/callback-receiver.ts'
import { uploadCsv } from '../support/migrate.ts'
import { makePortfolio } from '../support/portfolio.ts'
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
  t.match(first?.body, { type: 'migration.completed', sequence: 1, data: migration })
  const { body: listed } = await service.call('GET', '/api/callbacks')
  t.equal(listed.callbacks.length, 1)
  t.equal(listed.callbacks[0].subject, `migration:${body.migration_id}`)
})
