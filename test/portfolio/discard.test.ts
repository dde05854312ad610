import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { ended, migrateCsv, uploadCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const LATE = { disbursed_on_date: '2024-06-01', approved_on_date: '2024-06-01' }

t.test('a file can be discarded, and affects no other, until it is run', async t => {
  const service = await startTestService(t)
  const { call, db } = service
  const loanOf = (loan: string) => ({ loan_external_id: loan, client_external_id: `C-${loan}` })

  t.test('a loans file that was never run does not affect the verdict on repayments', async t => {
    await migrateCsv(service, 'loans', loansCsv(loanOf('A')))
    await uploadCsv(service, 'loans', loansCsv({ ...loanOf('A'), ...LATE }, loanOf('B')))
    const csv = repaymentsCsv({ loan_external_id: 'A' }, { loan_external_id: 'B' })
    const { dry_run, invalid_rows } = await migrateCsv(service, 'repayments', csv, {
      dry_run: true,
    })
    t.equal(invalid_rows, 0)
    t.match(dry_run, {
      would_change: 1,
      refused: 1,
      findings: [{ external_loan_id: 'B', reason: 'the ledger has no such loan' }],
    })
  })

  t.test('a file that was never run is discarded with its rows', async t => {
    const { migration_id: id } = (await uploadCsv(service, 'loans', loansCsv(loanOf('D')))).body
    t.equal((await call('DELETE', `/api/migration/${id}`)).status, 204)
    t.equal((await call('GET', `/api/migration/${id}`)).status, 404)
    t.equal((await call('DELETE', `/api/migration/${id}`)).status, 404)
    await until(async () => (await rowsOf(service, id)) === 0, 'its rows are gone')
    const { rows } = await sql`
      select from ops.audit where action = 'migration.discard' and subject = ${id}`.execute(db)
    t.equal(rows.length, 1)
  })

  t.test('a file that is running or has been run is not discarded', async t => {
    await fault(service, { kind: 'latency', ms: 2_000, match: { on: 'writes' } })
    const { migration_id: id } = (
      await uploadCsv(service, 'loans', loansCsv(loanOf('E'), loanOf('F')))
    ).body
    await call('POST', '/api/migration/run', { migration_id: id })
    t.match(await call('DELETE', `/api/migration/${id}`), {
      status: 409,
      body: { detail: 'The migration is running: cancel it first' },
    })
    await until(async () => (await callsUnderWay(service, id)) > 0, 'a row has been started')
    await call('POST', `/api/migration/${id}/cancel`)
    t.match(await call('DELETE', `/api/migration/${id}`), { status: 409 })
    await fetch(`${service.ledger.controlUrl}/faults`, { method: 'DELETE' })
    await call('POST', `/api/migration/${id}/retry`)
    t.match(await ended(service, id), { status: 'completed', done: 2 })
    t.match(await call('DELETE', `/api/migration/${id}`), {
      status: 409,
      body: { detail: /the results of its rows are kept/ },
    })
    t.equal(await rowsOf(service, id), 2)
  })
})

t.test('a cancelled file that is discarded before any row was started leaves the list', async t => {
  const { call, list } = await withList(t)
  const { migration_id } = (await list()).migrations[0]
  await call('POST', '/api/migration/run', { migration_id })
  await call('POST', `/api/migration/${migration_id}/cancel`)
  t.equal((await call('DELETE', `/api/migration/${migration_id}`)).status, 204)
  t.notOk(idsIn(await list()).includes(migration_id))
})

t.test('the list of migrations is paged and filtered as requested', async t => {
  const { call, list } = await withList(t)
  const all = idsIn(await list())
  const [newest, repayments, oldest] = all as [string, string, string]
  await call('POST', '/api/migration/run', { migration_id: oldest })

  t.test('the list is paged, newest first, with the same items as a single request', async t => {
    const first = await list('?limit=2')
    t.same(idsIn(first), [newest, repayments])
    const second = await list(`?limit=2&cursor=${first.next_cursor}`)
    t.same([idsIn(second), second.next_cursor], [[oldest], null])
    t.same(second.migrations[0], (await call('GET', `/api/migration/${oldest}`)).body)
  })

  t.test('the list is filtered by type and status', async t => {
    t.same(idsIn(await list('?type=repayments')), [repayments])
    t.same(idsIn(await list('?status=running')), [oldest])
    t.same(idsIn(await list('?type=loans&status=uploaded')), [newest])
  })

  t.test('the list refuses unknown values', async t => {
    for (const query of ['type=x', 'status=uploading', 'limit=0', 'limit=201', 'cursor=x', 'x=1'])
      t.match(
        await call('GET', `/api/migration?${query}`),
        { status: 400, body: { code: 'INVALID_QUERY' } },
        query,
      )
  })
})

/** Files of loans, repayments and loans again, newest first in the list. No worker takes them. */
async function withList(t: Test) {
  const service = await startTestService(t, { ROLE: 'api' })
  const uploaded: string[] = []
  for (const [type, csv] of [
    ['loans', loansCsv({})],
    ['repayments', repaymentsCsv({})],
    ['loans', loansCsv({})],
  ] as const)
    uploaded.unshift((await uploadCsv(service, type, csv)).body.migration_id)
  const list = async (query = '') => (await service.call('GET', `/api/migration${query}`)).body
  t.same(idsIn(await list()), uploaded)
  return { call: service.call, list }
}

const idsIn = (body: any): string[] => body.migrations.map((one: any) => one.migration_id)

async function rowsOf({ db }: TestService, id: string): Promise<number> {
  const { rows } = await sql`
    select from loanops.migration_row where migration_id = ${id}`.execute(db)
  return rows.length
}

async function callsUnderWay({ db }: TestService, id: string): Promise<number> {
  const { rows } = await sql`
    select from loanops.operation o join loanops.migration_step s on s.operation_id = o.id
     where s.migration_id = ${id} and o.claimed_by is not null`.execute(db)
  return rows.length
}

async function fault({ ledger }: TestService, rule: object) {
  await fetch(`${ledger.controlUrl}/faults`, { method: 'POST', body: JSON.stringify(rule) })
}
