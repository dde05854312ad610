import { sql } from 'kysely'
import t from 'tap'
import { barePost } from '../../support/http/raw-http.ts'
import { capturedA, refundA } from '../../support/payments/gateway-events.ts'
import { allSaved, LENDER, paymentService } from '../../support/payments/payments.ts'

t.test('an event is accepted with any content type or none, and the header is stored', async t => {
  const { url, db } = await paymentService(t)
  const types = ['blah', '', ';', 'a/b; c', undefined]
  for (const [i, type] of types.entries()) {
    const body = JSON.stringify(capturedA({ id: `pay_${i}` }))
    t.equal(
      await post(`${url}/api/webhooks/gateway_a?lender=LENDER_02`, body, type),
      200,
      String(type),
    )
  }
  await allSaved(db)
  const { rows } = await sql<{ type: string | null }>`
    select headers ->> 'content-type' as type from raw.lender_02_gateway_a`.execute(db)
  t.same(rows.map(({ type }) => type ?? undefined).sort(), types.sort())
})

t.test('a batch is requested with no body, null or {}, and anything else is refused', async t => {
  const { call } = await paymentService(t)
  for (const body of ['5', 'true', '""', '[]', '"x"', '[1]'])
    t.match(
      await call('POST', '/api/payments/batch', body),
      { status: 400, body: { code: 'INVALID_PAYLOAD' } },
      body,
    )
  for (const body of ['{}', 'null', undefined])
    t.equal((await call('POST', '/api/payments/batch', body)).status, 202)
})

t.test('payments are found by any loan’s name that an event can carry', async t => {
  const service = await paymentService(t)
  const names = ['../clients/1?x=', 'a\tb', 'नाम', 'x'.repeat(200)]
  for (const [i, loan] of names.entries())
    await service.webhook('gateway_a', capturedA({ id: `pay_${i}`, loan }), LENDER)
  await service.batch()
  const list = (loan: string) =>
    service.call('GET', `/api/payments?loan=${encodeURIComponent(loan)}`)
  for (const loan of names)
    t.match(await list(loan), { status: 200, body: { payments: [{ external_loan_id: loan }] } })
  for (const loan of ['', 'x'.repeat(201), '\0'])
    t.match(await list(loan), { status: 400, body: { code: 'INVALID_QUERY' } })
})

t.test('a refund is found and cannot be assigned', async t => {
  const service = await paymentService(t)
  await service.webhook('gateway_a', refundA(), LENDER)
  await service.batch()
  t.match((await service.payment('rfnd_1')).payment, { kind: 'refund' })
  t.match(await service.assign('rfnd_1', 'L-1'), { status: 409, body: { code: 'CONFLICT' } })
})

/** Posts what `fetch` cannot: with a content type that is none, or without one. */
function post(url: string, body: string, type: string | undefined): Promise<number> {
  const headers = {
    'content-length': Buffer.byteLength(body),
    ...(type === undefined ? {} : { 'content-type': type }),
  }
  return barePost(url, body, headers)
}
