import t from 'tap'
import { uploadCsv } from '../support/migrate.ts'
import { loansCsv, repaymentsCsv } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'

t.test('what runs beside what', async t => {
  // Without a worker a run never ends by itself.
  const service = await startTestService(t, { ROLE: 'api' })
  const run = (id: string) => service.call('POST', '/api/migration/run', { migration_id: id })
  const act = (id: string, action: string) => service.call('POST', `/api/migration/${id}/${action}`)
  const loans = (loan: string) => uploaded(service, 'loans', loansCsv({ loan_external_id: loan }))
  const repayments = (loan: string) =>
    uploaded(service, 'repayments', repaymentsCsv({ loan_external_id: loan }))

  t.test('repayments neither start nor are retried beside a run of their loans', async t => {
    const [started, retried, ofLoans] = [
      await repayments('A'),
      await repayments('A'),
      await loans('A'),
    ]
    await run(retried)
    await act(retried, 'cancel')
    await run(ofLoans)
    const refusal = { status: 409, body: { detail: /^Its loans are on their way.*/ } }
    t.match(await run(started), refusal)
    t.match(await act(retried, 'retry'), refusal)
    t.match(await run(await repayments('OTHER-A')), { status: 202 })
    await act(ofLoans, 'cancel')
    t.match(await act(retried, 'retry'), { status: 202 })
  })

  t.test('loans neither start nor are retried beside a run of their repayments', async t => {
    const [started, retried, ofRepayments] = [
      await loans('B'),
      await loans('B'),
      await repayments('B'),
    ]
    await run(retried)
    await act(retried, 'cancel')
    await run(ofRepayments)
    const refusal = { status: 409, body: { detail: /^Repayments on its loans are on their way.*/ } }
    t.match(await run(started), refusal)
    t.match(await act(retried, 'retry'), refusal)
    t.match(await run(await loans('OTHER-B')), { status: 202 })
    await act(ofRepayments, 'cancel')
    t.match(await act(retried, 'retry'), { status: 202 })
  })

  t.test('of both at the same moment one is refused', async t => {
    const pairs = await Promise.all(
      ['C', 'D', 'E', 'F'].map(loan => Promise.all([loans(loan), repayments(loan)])),
    )
    const answers = await Promise.all(pairs.map(pair => Promise.all(pair.map(run))))
    for (const pair of answers) t.same(pair.map(({ status }) => status).sort(), [202, 409])
  })
})

async function uploaded(service: TestService, type: string, csv: string): Promise<string> {
  return (await uploadCsv(service, type, csv)).body.migration_id
}
