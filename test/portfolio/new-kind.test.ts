import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { DAY, requiredColumn } from '../../src/csv/column.ts'
import type { Operation } from '../../src/engine/operation.ts'
import { migratePortfolio } from '../../src/portfolio/command/migrate-portfolio.ts'
import { findEffect } from '../../src/portfolio/kinds/find-effect.ts'
import type { RowKind } from '../../src/portfolio/kinds/kind.ts'
import { kinds } from '../../src/portfolio/kinds/kinds.ts'
import type { Looker, RowFinding, RowToLookAt } from '../../src/portfolio/kinds/looker.ts'
import { step } from '../../src/portfolio/kinds/step.ts'
import { twice } from '../../src/portfolio/kinds/twice.ts'

/** Approvals of loans from another file. */
const approvals: RowKind = {
  type: 'approvals',
  columns: [
    requiredColumn('approved_loan', 'L-1001', 'the loan'),
    requiredColumn('day', '05 March 2026', 'the day of the approval'),
  ],
  ids: ['approved_loan'],
  patterns: { day: DAY },
  isHeader: columns => columns.includes('approved_loan'),
  buildsOn: ['loans'],
  rules: [twice(sql`loan_external_id`, 'approved_loan: this loan')],
  reader(catalogue) {
    const approve = step(catalogue.get('LOAN_APPROVE') as Operation, [
      { column: 'approved_loan', field: 'external_loan_id', as: 'text' },
      { column: 'day', field: 'approvedOnDate', as: 'day' },
    ])
    return {
      check: fields => ({ errors: approve.check(fields), loanExternalId: fields.approved_loan }),
      steps: fields => [approve.make(fields)],
    }
  },
  look: lookAtApprovals,
}

async function lookAtApprovals(looker: Looker, rows: RowToLookAt[]): Promise<RowFinding[]> {
  return Promise.all(
    rows.map(async ({ line, steps: [approval] }) => {
      const { state } = await findEffect(looker, approval as RowToLookAt['steps'][0])
      return { line, finding: state === 'there' ? 'in_ledger' : 'new', reason: null }
    }),
  )
}

// The one line that a new kind needs. The service reads the list when it is loaded, so it is loaded after this.
kinds.push(approvals)
const { booksAt } = await import('../support/ledger/ledger-driver.ts')
const { ended, migrateCsv, textOf, uploadCsv } = await import('../support/portfolio/migrate.ts')
const { loansCsv } = await import('../support/portfolio/rows.ts')
const { startTestService, TOKEN } = await import('../support/service.ts')

const submitted = (...loans: string[]) =>
  loansCsv(
    ...loans.map(loan => ({
      loan_external_id: loan,
      client_external_id: loan,
      approved_on_date: '',
      disbursed_on_date: '',
    })),
  )
const approvalsCsv = (...loans: string[]) =>
  `approved_loan,day\n${loans.map(loan => `${loan},2024-01-11\n`).join('')}`

t.test('a new kind of CSV needs one source file and one line in kinds.ts', async t => {
  const service = await startTestService(t)
  const { call } = service
  const statusOf = async (loan: string) =>
    (await booksAt(service.ledger.controlUrl)).loans.find((one: any) => one.externalId === loan)
      ?.status

  t.test('a new kind has a template that can be uploaded, and is listed by its type', async t => {
    const template = await textOf(service, '/api/migration/templates/approvals.csv')
    t.equal(template, 'approved_loan,day\r\nL-1001,05 March 2026\r\n')
    const { status, body } = await uploadCsv(service, 'approvals', template)
    t.equal(status, 201)
    t.match(body, { type: 'approvals', rows: 1, valid_rows: 1 })
    const { migrations } = (await call('GET', '/api/migration?type=approvals')).body
    t.match(migrations, [{ migration_id: body.migration_id, type: 'approvals' }])
  })

  t.test('a new kind is checked by its own rules, within a row and across rows', async t => {
    const csv = `${approvalsCsv('A-1', 'A-2', 'A-1')}A-3,yesterday\n`
    const { body } = await uploadCsv(service, 'approvals', csv)
    t.same(
      body.errors.map(({ line }: any) => line),
      [2, 4, 5],
    )
    t.match(body.errors[0].reason, /^approved_loan: this loan/)
    t.match(body.errors[2].reason, /^day must be a valid date/)
  })

  t.test('a new kind can be dry-run and run', async t => {
    await migrateCsv(service, 'loans', submitted('B-1'))
    const csv = approvalsCsv('B-1')
    const { dry_run, migration_id } = await migrateCsv(service, 'approvals', csv, { dry_run: true })
    t.match(dry_run, { would_change: 1, in_ledger: 0 })
    t.equal(await statusOf('B-1'), 100, 'the dry run writes nothing')
    await call('POST', '/api/migration/run', { migration_id })
    t.match(await ended(service, migration_id), { status: 'completed', done: 1, failed: 0 })
    t.equal(await statusOf('B-1'), 200)
    const again = await migrateCsv(service, 'approvals', csv, { dry_run: true })
    t.match(again.dry_run, { would_change: 0, in_ledger: 1 })
  })

  t.test('a new kind does not run during a run of a kind it depends on', async t => {
    const slow = { kind: 'latency', ms: 1_500, match: { externalId: 'C-1', on: 'writes' } }
    const faults = `${service.ledger.controlUrl}/faults`
    await fetch(faults, { method: 'POST', body: JSON.stringify(slow) })
    const loans = (await uploadCsv(service, 'loans', submitted('C-1'))).body.migration_id
    const early = (await uploadCsv(service, 'approvals', approvalsCsv('C-1'))).body.migration_id
    await call('POST', '/api/migration/run', { migration_id: loans })
    t.equal((await call('POST', '/api/migration/run', { migration_id: early })).status, 409)
    await fetch(faults, { method: 'DELETE' })
    t.match(await ended(service, loans), { done: 1 })
  })

  t.test('migrate-portfolio recognises a new kind, and runs it after those it needs', async t => {
    const folder = t.testdir()
    const files = ['approvals.csv', 'loans.csv'].map(name => join(folder, name)) as [string, string]
    writeFileSync(files[0], approvalsCsv('D-1'))
    writeFileSync(files[1], submitted('D-1'))
    const env = { LOANOPS_URL: service.url, INTERNAL_TOKEN: TOKEN }
    await migratePortfolio(env, files, { isDryRun: false, skipInvalid: false })
    t.equal(await statusOf('D-1'), 200)
  })

  t.test('a process leaves alone the runs of a kind that it does not know', async t => {
    const { migration_id } = (await uploadCsv(service, 'loans', submitted('E-1'))).body
    await sql`
      update loanops.migration set type = 'newer' where id = ${migration_id}`.execute(service.db)
    t.equal((await call('POST', '/api/migration/run', { migration_id })).status, 503)
    await sql`
      update loanops.migration set status = 'running'
       where id = ${migration_id}`.execute(service.db)
    t.match(await migrateCsv(service, 'loans', submitted('E-2')), { done: 1 })
    const { body } = await call('GET', `/api/migration/${migration_id}`)
    t.match(body, { type: 'newer', status: 'running', done: 0 })
    t.equal(await statusOf('E-1'), undefined)
  })
})
