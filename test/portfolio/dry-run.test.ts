import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { matchEach } from '../support/match-each.ts'
import { paymentService } from '../support/payments/payments.ts'
import { ended, migrateCsv, rowsOf, startCsv } from '../support/portfolio/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('a dry run predicts what a run would do, and writes nothing', async t => {
  const service = await startTestService(t)
  const { call, ledger } = service
  await migrateCsv(
    service,
    'loans',
    loansCsv(
      { client_external_id: 'E', loan_external_id: 'E-1' },
      { client_external_id: 'E', loan_external_id: 'E-2', disbursed_on_date: '' },
    ),
  )
  await migrateCsv(service, 'repayments', repaymentsCsv({ loan_external_id: 'E-1' }))
  const counters = async () => (await fetch(`${ledger.controlUrl}/log`)).json() as Promise<any>
  const { last } = await counters()

  const row = { client_external_id: 'E' }
  const loans = await migrateCsv(
    service,
    'loans',
    loansCsv(
      { ...row, loan_external_id: 'E-1' },
      { ...row, loan_external_id: 'E-2' },
      { ...row, loan_external_id: 'E-3' },
      { ...row, loan_external_id: 'E-4', client_external_id: 'E2' },
      { ...row, loan_external_id: 'E-5', principal: '1' },
    ),
    { dry_run: true },
  )
  t.match(loans, {
    status: 'uploaded',
    is_dry_run: true,
    dry_run: { would_change: 3, in_ledger: 1, differs: 0, refused: 1 },
  })
  t.same(
    (await rowsOf(service, loans.migration_id)).map(({ finding }: any) => finding),
    ['in_ledger', 'new', 'new', 'new', 'refused'],
  )

  const repayments = await migrateCsv(
    service,
    'repayments',
    repaymentsCsv(
      { loan_external_id: 'E-1' },
      { loan_external_id: 'E-1', payment_reference: 'new' },
      { loan_external_id: 'E-8' },
      { loan_external_id: 'E-1', payment_reference: 'p' },
    ).replace('E-1,2024-02-12,100.50,p-1', 'E-1,2024-02-12,99,p-1'),
    { dry_run: true },
  )
  const behind = 'would not be tried, because line 2 of the same loan would be refused'
  t.match(repayments.dry_run, {
    would_change: 0,
    differs: 1,
    refused: 3,
    findings: [
      {
        line: 2,
        external_loan_id: 'E-1',
        finding: 'differs',
        reason: /amount is 100.5 there, not 99/,
      },
      { line: 3, finding: 'refused', reason: behind },
      { line: 4, finding: 'refused', reason: 'the ledger has no such loan' },
      { line: 5, finding: 'refused', reason: behind },
    ],
  })
  t.equal((await counters()).last, last, 'the ledger has logged no write')
  t.equal((await call('POST', `/api/migration/${loans.migration_id}/cancel`)).status, 409)
})

t.test('a dry run runs alongside other work, and waits for the ledger', async t => {
  const service = await startTestService(t)
  const { call, ledger } = service
  const fault = faultsOf(ledger.controlUrl)
  const there = ['A', 'U', 'V'].map(one => ({
    client_external_id: one,
    loan_external_id: `${one}-1`,
  }))
  await migrateCsv(service, 'loans', loansCsv(...there))

  t.test('a dry run does not hold up runs while it waits for the ledger', async t => {
    await fault.add({ kind: 'hang', match: { externalId: 'A-1', on: 'reads' } })
    const slow = loansCsv({ loan_external_id: 'A-1', client_external_id: 'A' })
    const migration_id = await startCsv(service, 'loans', slow, { dry_run: true })
    await until(async () => (await fault.hits()) > 0)
    const quick = loansCsv({ loan_external_id: 'B-1', client_external_id: 'B' })
    t.match(await migrateCsv(service, 'loans', quick), { status: 'completed', done: 1 })
    t.match((await call('GET', `/api/migration/${migration_id}`)).body, { status: 'running' })
    await fault.none()
    t.match(await ended(service, migration_id), { dry_run: { in_ledger: 1 } })
  })

  t.test('a dry run shows its progress, and when it will end', async t => {
    // A client that the ledger has: the sandbox answers for a missing one without its faults.
    const slow = { loan_external_id: 'P-99', client_external_id: 'A' }
    await fault.add({ kind: 'hang', match: { externalId: 'A', on: 'reads' } })
    // More than are checked together, in the order of their ids.
    const quick = Array.from({ length: 29 }, (_, i) => ({ loan_external_id: `P-${70 + i}` }))
    const loans = [...quick, slow]
    const migration_id = await startCsv(service, 'loans', loansCsv(...loans), { dry_run: true })
    const record = await until(async () => {
      const { body } = await call('GET', `/api/migration/${migration_id}`)
      return body.looked_at > 0 && body
    })
    t.match(record, { status: 'running', looked_at: 20, estimated_end_at: String })
    t.ok(record.rate_per_second > 0)
    await fault.none()
    t.match(await ended(service, migration_id), { looked_at: 30, estimated_end_at: null })
  })

  t.test('a dry run reports a loan that cannot be read as unknown, and checks others', async t => {
    await fault.add({ kind: 'error', status: 500, match: { externalId: 'U-1', on: 'reads' } })
    const csv = repaymentsCsv({ loan_external_id: 'U-1' }, { loan_external_id: 'U-2' })
    const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry_run, { would_change: 0, refused: 1, unknown: 1 })
    matchEach(t, dry_run.findings, [
      { line: 2, finding: 'unknown', reason: /^the ledger could not be read: .*500/ },
      { line: 3, finding: 'refused', reason: 'the ledger has no such loan' },
    ])
    await fault.none()
  })

  t.test('a dry run reports nothing while the ledger is down, and then goes on', async t => {
    // The ledger fails as often as a loan has tries, but on the first one it answers nothing else either.
    await fault.add({ kind: 'error', status: 503, match: { externalId: 'V-1' }, times: 3 })
    await fault.add({ kind: 'error', status: 503, match: { path: 'paymenttypes' }, times: 1 })
    const csv = repaymentsCsv({ loan_external_id: 'V-1' })
    const { dry_run } = await migrateCsv(service, 'repayments', csv, { dry_run: true })
    t.match(dry_run, { would_change: 1, unknown: 0 })
    t.equal(await fault.hits(), 3)
    await fault.none()
  })
})

t.test('a stop does not wait for loans that a dry run has not started to check', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { databaseUrl, ledger } = service
  const config = readConfig(
    testEnv(databaseUrl, ledger.url, { ROLE: 'worker', LEDGER_CONCURRENCY: '2' }),
  )
  const worker = await startRole(config, logger('silent'))
  const rows = Array.from({ length: 20 }, (_, i) => ({ loan_external_id: `S-${i}` }))
  await migrateCsv(service, 'loans', loansCsv(...rows.slice(0, 1)))
  const fault = faultsOf(ledger.controlUrl)
  await fault.add({ kind: 'latency', ms: 1_000, match: { externalId: 'C-1', on: 'reads' } })
  const _migration_id = await startCsv(service, 'loans', loansCsv(...rows), { dry_run: true })
  await until(async () => (await fault.hits()) > 0)
  await worker.close()
  t.ok((await fault.hits()) < rows.length / 2, 'the others were not read')
})

function faultsOf(controlUrl: string) {
  const url = `${controlUrl}/faults`
  return {
    add: (rule: object) => fetch(url, { method: 'POST', body: JSON.stringify(rule) }),
    none: () => fetch(url, { method: 'DELETE' }),
    /** How many requests the first rule has matched. */
    hits: async () => ((await (await fetch(url)).json()) as any).rules[0].hits as number,
  }
}

t.test('a dry run foresees that a payment is in the file again, in capitals', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const row = { loan_external_id: 'L-1', transaction_date: '2026-02-05', amount: '1000.00' }
  const csv = repaymentsCsv(
    { ...row, payment_reference: 'pay_1' },
    { ...row, payment_reference: 'PAY_2', amount: '999.00', gateway: 'gateway_a' },
    { ...row, payment_reference: 'PAY_1', amount: '998.00' },
    { ...row, payment_reference: 'pay_2' },
    { ...row, payment_reference: 'pay_3' },
  )
  const dry = await migrateCsv(service, 'repayments', csv, { dry_run: true })
  t.match(dry.dry_run, { would_change: 3, refused: 2 })
  t.match(
    dry.dry_run.findings.map((one: any) => [one.line, one.reason]),
    [
      [5, 'payment_reference: this payment is also in line 3'],
      [6, /line 5 of the same loan/],
    ],
  )
  await service.call('POST', '/api/migration/run', { migration_id: dry.migration_id })
  t.match(await ended(service, dry.migration_id), { done: 3, failed: 1, stopped: 1 })
})

t.test('a dry run foresees that a payment is in the file again, with zeros before it', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  const row = { loan_external_id: 'L-1', transaction_date: '2026-02-05', amount: '1000.00' }
  const csv = repaymentsCsv(
    { ...row, payment_reference: '0042' },
    { ...row, payment_reference: '42', amount: '999.00' },
    { ...row, payment_reference: '042' },
  )
  const dry = await migrateCsv(service, 'repayments', csv, { dry_run: true })
  t.match(dry.dry_run, {
    would_change: 2,
    findings: [{ line: 4, reason: 'payment_reference: this payment is also in line 2' }],
  })
  await service.call('POST', '/api/migration/run', { migration_id: dry.migration_id })
  t.match(await ended(service, dry.migration_id), { done: 2, failed: 1 })
})
