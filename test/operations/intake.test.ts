import { sql } from 'kysely'
import t from 'tap'
import { clientData, loanData, newName } from '../support/ledger/loans.ts'
import { startTestService } from '../support/service.ts'

const CONCURRENT_REQUESTS = 50

t.test('the same Idempotency-Key fifty times at once creates one operation', async t => {
  const { call, db } = await startTestService(t, { ROLE: 'api' })
  const body = { status: 'CLIENT_CREATE', data: clientData(newName('C')) }
  const answers = await Promise.all(
    Array.from({ length: CONCURRENT_REQUESTS }, () =>
      call('POST', '/api/ledger/operate', body, { 'idempotency-key': 'once' }),
    ),
  )
  t.same([...new Set(answers.map(({ status }) => status))], [202])
  t.equal(new Set(answers.map(one => one.body.tracking_id)).size, 1)
  const { rows } = await sql<{
    n: number
  }>`select count(*)::integer as n from loanops.operation`.execute(db)
  t.equal(rows[0]?.n, 1)
})

t.test('a key reused with another body is refused; others in its commit are accepted', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const send = (externalId: string, key: string) =>
    call(
      'POST',
      '/api/ledger/operate',
      { status: 'CLIENT_CREATE', data: clientData(externalId) },
      { 'idempotency-key': key },
    )
  const answers = await Promise.all([send('C-1', 'a'), send('C-2', 'a'), send('C-3', 'b')])
  t.same(answers.map(({ status }) => status).sort(), [202, 202, 422])
  t.equal(answers[2]?.status, 202)
})

t.test('a repeat of an update is not judged by updates that came after it', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const send = (status: string, data: object, key: string) =>
    call('POST', '/api/ledger/operate', { status, data }, { 'idempotency-key': key })
  const externalId = 'L-1'
  const inYears = { loanTermFrequency: 1, loanTermFrequencyType: 'years', numberOfRepayments: 12 }
  const untyped = { externalId, loanTermFrequency: 24 }
  await send('LOAN_CREATE', loanData(externalId, 'C-1'), 'a')
  const first = await send('LOAN_UPDATE', untyped, 'b')
  t.equal((await send('LOAN_UPDATE', { externalId, ...inYears }, 'c')).status, 202)
  t.same((await send('LOAN_UPDATE', untyped, 'b')).body, first.body)
  t.equal((await send('LOAN_UPDATE', untyped, 'd')).status, 400)
})

t.test(
  'a repeat of an update is answered as before, though an earlier one failed since',
  async t => {
    const { call } = await startTestService(t, { ROLE: 'api' })
    const send = (status: string, data: object, key: string) =>
      call('POST', '/api/ledger/operate', { status, data }, { 'idempotency-key': key })
    const inYears = { loanTermFrequency: 1, loanTermFrequencyType: 'years', numberOfRepayments: 12 }
    const inMonths = { loanTermFrequency: 12, loanTermFrequencyType: 'months' }
    const untyped = { externalId: 'L-1', loanTermFrequency: 24 }
    await send('LOAN_CREATE', { ...loanData('L-1', 'C-1'), ...inYears }, 'a')
    const { body } = await send('LOAN_UPDATE', { externalId: 'L-1', ...inMonths }, 'b')
    const first = await send('LOAN_UPDATE', untyped, 'c')
    const path = `/api/ledger/operations/${encodeURIComponent(body.tracking_id)}/cancel`
    t.equal((await call('POST', path)).status, 202)
    t.same((await send('LOAN_UPDATE', untyped, 'c')).body, first.body)
    t.equal((await send('LOAN_UPDATE', untyped, 'd')).status, 400)
  },
)

t.test('an update names the term and its type together once the term was converted', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const send = (status: string, data: object) =>
    call('POST', '/api/ledger/operate', { status, data })
  const inYears = { loanTermFrequency: 1, loanTermFrequencyType: 'years', numberOfRepayments: 12 }
  const inWeeks = { loanTermFrequency: 4, loanTermFrequencyType: 'weeks', numberOfRepayments: 28 }
  const asWritten = { loanTermFrequency: 12, loanTermFrequencyType: 'months' }
  await send('LOAN_CREATE', { ...loanData('L-1', 'C-1'), ...inYears })
  await send('LOAN_CREATE', { ...loanData('L-2', 'C-1'), ...inWeeks })
  await send('LOAN_CREATE', { ...loanData('L-3', 'C-1'), ...asWritten })
  const update = async (externalId: string, terms: object) => {
    const { status, body } = await send('LOAN_UPDATE', { externalId, principal: 60_000, ...terms })
    return [status, body.errors?.[0]?.path, body.errors?.[0]?.message]
  }
  t.same(await update('L-1', { loanTermFrequencyType: 'years' }), [
    400,
    '/data/loanTermFrequency',
    "is required, because the loan's term of 1 years became 12 months",
  ])
  t.match(await update('L-2', { loanTermFrequencyType: 'weeks', numberOfRepayments: 28 }), [
    400,
    '/data/loanTermFrequency',
  ])
  t.match(await update('L-1', { loanTermFrequency: 2 }), [400, '/data/loanTermFrequencyType'])
  t.match(await update('L-1', {}), [202])
  t.match(await update('L-1', { loanTermFrequency: 2, loanTermFrequencyType: 'years' }), [202])
  t.match(await update('L-3', { loanTermFrequencyType: 'weeks' }), [202])
})

t.test('the order of its members does not make a body a different one', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const data = clientData('C-1')
  const turned = Object.fromEntries(Object.entries(data).reverse())
  const key = { 'idempotency-key': 'a' }
  const first = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data }, key)
  const again = await call(
    'POST',
    '/api/ledger/operate',
    { data: turned, status: 'CLIENT_CREATE' },
    key,
  )
  t.equal(again.body.tracking_id, first.body.tracking_id)
})
