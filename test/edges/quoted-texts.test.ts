import t from 'tap'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { startTestService } from '../support/service.ts'

/** What PostgreSQL's client says when it loses its connection. */
const TEXTS = [
  'connection timeout',
  'connection error',
  'Connection terminated unexpectedly',
  'timeout exceeded when trying to connect',
]

t.test('a caller’s text that a refusal quotes does not change its status', async t => {
  const { call, url } = await startTestService(t, { ROLE: 'api' })

  await t.test('a payment whose id looks like an error message gets a 404', async t => {
    for (const text of TEXTS) {
      const path = `/api/payments/gateway_a/${encodeURIComponent(text)}`
      const { status, body } = await call('GET', path)
      t.match({ status, body }, { status: 404, body: { code: 'NOT_FOUND' } }, text)
    }
  })

  await t.test('an id that reads like an error does not change the next item’s answer', async t => {
    const assignments = [...TEXTS, 'pay_1'].map(gateway_payment_id => ({
      gateway: 'gateway_a',
      gateway_payment_id,
      external_loan_id: 'L-1',
    }))
    const { body } = await call('POST', '/api/payments/assign', { assignments })
    t.same(
      body.results.map(({ status, detail }: { status: number; detail: string }) => [
        status,
        detail,
      ]),
      [...TEXTS, 'pay_1'].map(id => [404, `No payment ${id} of gateway_a`]),
    )
  })

  await t.test('a column whose name reads like an error makes the file invalid', async t => {
    for (const text of TEXTS) {
      const answer = await uploadCsv({ url }, 'loans', `${text}\nx\n`)
      t.match(answer, { status: 400, body: { detail: new RegExp(text, 'i') } })
    }
  })
})
