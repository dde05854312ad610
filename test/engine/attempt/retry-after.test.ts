import { sql } from 'kysely'
import t from 'tap'
import { ending, submit } from '../../support/engine/operations.ts'
import { clientData, control, givenLoan, newName } from '../../support/ledger/loans.ts'
import { uploadCsv } from '../../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PAUSE_SECONDS = 3

// Each waits for a pause to end.
t.jobs = 4

for (const kind of ['tooMany', 'error'])
  t.test(
    `the Retry-After of a write’s ${kind === 'error' ? 503 : 429} delays its next write`,
    async t => {
      const service = await startTestService(t)
      const client = newName('C')
      const retryAfter =
        kind === 'error'
          ? new Date(Date.now() + 1_000 * (PAUSE_SECONDS + 1)).toUTCString()
          : String(PAUSE_SECONDS)
      await control(service, 'PUT', '/faults', [
        { kind, status: 503, retryAfter, times: 1, match: { on: 'writes', externalId: client } },
      ])
      const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
      t.match(await ending(service.call, id), { status: 'success' })
      if (kind === 'error') {
        // On a slow machine part of the pause is over before the first attempt.
        const last = await lastStart(service, id)
        t.ok(last >= Date.parse(retryAfter), `${new Date(last).toISOString()}, ${retryAfter}`)
      } else {
        const [pause] = await pausesIn(service, id)
        t.ok(Number(pause) >= PAUSE_SECONDS, `${pause} s`)
      }
    },
  )

t.test('the Retry-After of a look delays the next try', async t => {
  const service = await startTestService(t)
  const client = newName('C')
  await control(service, 'PUT', '/faults', [
    { kind: 'drop', times: 1, match: { on: 'writes', externalId: client } },
    {
      kind: 'tooMany',
      retryAfter: String(PAUSE_SECONDS),
      times: 1,
      match: { on: 'reads', externalId: client },
    },
  ])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  t.match(await ending(service.call, id), { status: 'success' })
  const [, pause] = await pausesIn(service, id)
  t.ok(Number(pause) >= PAUSE_SECONDS, `${pause} s`)
})

t.test('a Retry-After of more than a day, such as a time in seconds, delays nothing', async t => {
  const service = await startTestService(t)
  const client = newName('C')
  const retryAfter = String(Math.round(Date.now() / 1_000))
  await control(service, 'PUT', '/faults', [
    { kind: 'tooMany', retryAfter, times: 1, match: { on: 'writes', externalId: client } },
  ])
  const id = await submit(service.call, 'CLIENT_CREATE', clientData(client))
  t.match(await ending(service.call, id), { status: 'success' })
})

t.test('the Retry-After of a read delays the dry run that made it', async t => {
  const service = await startTestService(t)
  const loan = await givenLoan(service.call, 'disbursed')
  const file = repaymentsCsv({ loan_external_id: loan, transaction_date: '2026-02-12' })
  const { migration_id } = (await uploadCsv(service, 'repayments', file)).body
  const rule = {
    kind: 'tooMany',
    retryAfter: String(PAUSE_SECONDS),
    times: 1,
    match: { on: 'reads', path: 'loans/' },
  }
  await control(service, 'PUT', '/faults', [rule])
  const from = Date.now()
  await service.call('POST', '/api/migration/run', { migration_id, dry_run: true })
  const path = `/api/migration/${migration_id}`
  const { body } = await until(async () => {
    const found = await service.call('GET', path)
    return found.body.dry_run !== null && found
  })
  t.match(body.dry_run, { would_change: 1 })
  t.ok(Date.now() - from >= 1_000 * PAUSE_SECONDS, `${Date.now() - from} ms`)
})

/** The seconds between each attempt and the next. */
async function pausesIn({ db }: TestService, trackingId: string): Promise<number[]> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from lead(started_at) over (order by attempt) - ended_at)::float8 as seconds
      from ops.operation_attempt where tracking_id = ${trackingId} order by attempt`.execute(db)
  return rows.map(({ seconds }) => seconds)
}

/** When the last attempt began, in milliseconds since 1970. */
async function lastStart({ db }: TestService, trackingId: string): Promise<number> {
  const { rows } = await sql<{ at: Date }>`
    select max(started_at) as at from ops.operation_attempt
     where tracking_id = ${trackingId}`.execute(db)
  return rows[0]?.at.getTime() ?? Number.NaN
}
