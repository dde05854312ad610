import { parse } from 'csv-parse/sync'
import t from 'tap'
import { ended, errorsOf, migrateCsv, textOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { LOAN_COLUMNS, REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { loansCsv, repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

const findingsOf = async (service: { url: string }, id: string) => {
  const text = await textOf(service, `/api/migration/${id}/findings.csv`)
  return parse(text, { bom: true }) as string[][]
}

t.test('findings.csv has what each stage found, a line for each, before the row', async t => {
  const service = await startTestService(t)
  const { call } = service
  await migrateCsv(service, 'loans', loansCsv({}))
  // An earlier run leaves another repayment with this reference at the ledger.
  await migrateCsv(service, 'repayments', repaymentsCsv({ payment_reference: 'p-9' }))
  const csv = repaymentsCsv(
    {},
    { payment_reference: 'p-2', amount: 'x', note: '=1+1' },
    { payment_reference: 'p-9', amount: '7.00' },
    { loan_external_id: 'L-9' },
  )
  const { body } = await uploadCsv(service, 'repayments', csv)
  const id = body.migration_id
  const [header, ...uploaded] = await findingsOf(service, id)
  t.same(header, ['line', 'stage', 'finding', 'reason', ...REPAYMENT_COLUMNS.split(',')])
  const invalid = [
    ...['3', 'upload', 'invalid', body.errors[0].reason],
    ...['L-1', '2024-02-12', 'x', 'p-2', '', "'=1+1"],
  ]
  t.same(uploaded, [invalid])

  const start = (dry_run: boolean) =>
    call('POST', '/api/migration/run', { migration_id: id, dry_run, skip_invalid: true })
  await start(true)
  await ended(service, id)
  const differs = ['4', 'dry_run', 'differs']
  const refused = ['5', 'dry_run', 'refused']
  const stagesOf = async () =>
    (await findingsOf(service, id)).slice(1).map(row => [...row.slice(0, 3), row[7]])
  const first = ['3', 'upload', 'invalid', 'p-2']
  t.same(await stagesOf(), [first, [...differs, 'p-9'], [...refused, 'p-1']])

  // What would have been refused is done once its loan is there.
  await migrateCsv(
    service,
    'loans',
    loansCsv({ loan_external_id: 'L-9', client_external_id: 'C-9' }),
  )
  await start(false)
  await ended(service, id)
  t.same(await stagesOf(), [first, [...differs, 'p-9'], ['4', 'run', 'failed', 'p-9']])
})

t.test('findings.csv has all findings, however many, unlike the hundred of an answer', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = Array.from({ length: 2_500 }, (_, n) => ({
    payment_reference: `p-${n}`,
    ...(n % 2 === 0 ? { amount: 'x' } : {}),
    note: 'n'.repeat(300),
  }))
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv(...rows))
  const findings = (await findingsOf(service, body.migration_id)).slice(1)
  t.same(
    findings.map(([line]) => Number(line)),
    rows.flatMap(({ amount }, n) => (amount === undefined ? [] : [n + 2])),
  )
  t.equal(body.errors.length, 100)
})

t.test('findings.csv of an errors file has no second column of reasons', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { body } = await uploadCsv(service, 'loans', loansCsv({ principal: 'x' }))
  const errors = await errorsOf(service, body.migration_id)
  const { body: again } = await uploadCsv(service, 'loans', errors)
  const [header] = await findingsOf(service, again.migration_id)
  t.same(header, ['line', 'stage', 'finding', 'reason', ...LOAN_COLUMNS.split(',')])
})

t.test('a list of findings that is uploaded is recognised', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv({ amount: 'x' }))
  const findings = await textOf(service, `/api/migration/${body.migration_id}/findings.csv`)
  t.match(await uploadCsv(service, 'repayments', findings), {
    status: 400,
    body: { detail: /^This is a list of findings, not a file of repayments: remove its columns/ },
  })
  const cut = findings.replaceAll(/^[^,]*,[^,]*,[^,]*,/gm, '').replace(',x,', ',10.00,')
  t.match(await uploadCsv(service, 'repayments', cut), { status: 201, body: { valid_rows: 1 } })
})
