import t from 'tap'
import { gatewaySandbox } from '../support/books/gateways.ts'
import { uploadStatement } from '../support/books/statements.ts'
import { startTestService } from '../support/service.ts'

/** PostgreSQL reads none of them. */
const UNREADABLE = [
  '0000-01-01T00:00:00Z',
  '2026-01-01T00:00:00+23:59',
  '2026-01-01T00:00:00-16:00',
]
const READABLE = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-01-01T00:00:00+15:59']

t.test('a time that the database cannot read is refused wherever a time is given', async t => {
  const { settings } = await gatewaySandbox(t)
  const service = await startTestService(t, { ...settings, ROLE: 'api' })
  const statusesFor = async (time: string) => {
    const period = { from: time, to: time }
    const answers = [
      await service.call('GET', `/api/callbacks?${new URLSearchParams(period)}`),
      await service.call('POST', '/api/callbacks/replay', period),
      await service.call('POST', '/api/gateways/gateway_a/backfill', period),
    ]
    return answers.map(({ status }) => status)
  }
  for (const time of UNREADABLE) t.same(await statusesFor(time), [400, 400, 400], time)
  for (const time of READABLE) t.same(await statusesFor(time), [200, 202, 202], time)
})

t.test('a time whose year in UTC has not four digits is refused', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const until of ['9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00'])
    t.match((await call('POST', '/api/ledger/pause', { reason: 'a test', until })).body, {
      status: 400,
      errors: [{ path: '/until', message: 'must be in the years 0001 to 9999 in UTC' }],
    })
})

t.test('the plus of a zone may be sent as it is in a query', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const statusUntil = async (to: string) =>
    (await call('GET', `/api/callbacks?from=2026-01-01T00:00:00+05:30&to=${to}`)).status
  t.equal(await statusUntil('2025-12-31T18:30:00Z'), 200)
  t.equal(await statusUntil('2025-12-31T18:29:00Z'), 400)
})

t.test('a blank in place of the sign of a zone is refused in a body', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const until = '2099-01-01T00:00:00 05:30'
  t.equal((await call('POST', '/api/ledger/pause', { reason: 'a test', until })).status, 400)
})

t.test('a statement row with an unreadable time is reported, and the others are saved', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const times = [...UNREADABLE, '2026-02-05T10:00:00+05:30']
  const rows = times.map((time, n) => `pay_${n},100.00,INR,captured,${time}`)
  const header = 'gateway_payment_id,amount,currency,status,captured_at'
  const path = 'gateway_a/statement?lender=LENDER_02'
  const { status, body } = await uploadStatement(service.url, path, [header, ...rows].join('\n'))
  t.equal(status, 201)
  t.match(body, { rows: 4, valid_rows: 1, invalid_rows: 3 })
})
