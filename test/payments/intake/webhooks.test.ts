import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { barePost } from '../../support/http/raw-http.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, signedA, signedB, successB } from '../../support/payments/gateway-events.ts'
import { allSaved, paymentService } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

type RawRow = {
  event_id: string | null
  event_type: string | null
  body: Buffer
  headers: Record<string, string>
  address: string
  verified_by: string | null
}

async function setup(t: import('tap').Test, changes: NodeJS.ProcessEnv = {}) {
  const service = await paymentService(t, changes)
  const raw = async (store: string) => {
    await allSaved(service.db)
    const { rows } = await sql<RawRow>`
      select event_id, event_type, body, headers, host(address) as address, verified_by
        from ${sql.table(`raw.${store}`)} order by received_at, id`.execute(service.db)
    return rows
  }
  return { ...service, raw }
}

t.test('an event is acknowledged and kept byte for byte, with headers, sender and ids', async t => {
  const { webhook, raw } = await setup(t)
  const body = `{ "event":"payment.captured",\n "amount": 170.00, "name":"आशा" }`
  const headers = { 'x-gatewaya-event-id': 'evt_1', 'x-odd': 'äö', authorization: 'Bearer secret' }
  const { status, body: answer } = await webhook('gateway_a', body, {
    lender: 'LENDER_02',
    headers,
  })
  t.equal(status, 200)
  t.same(answer, { received: true })
  const [row] = await raw('lender_02_gateway_a')
  t.equal(row?.body.toString(), body)
  t.match(row, {
    event_id: 'evt_1',
    event_type: 'payment.captured',
    address: '127.0.0.1',
    verified_by: null,
    headers: { 'x-odd': 'äö', 'content-type': 'application/json' },
  })
  t.notOk(row?.headers.authorization, 'what is secret is not kept')
})

t.test(
  'a body that is not a JSON object is 400, one larger than 1 MiB is 413, and neither is kept',
  async t => {
    const { webhook, db } = await setup(t)
    for (const body of ['', 'x', '[]', 'null', '1', '"a"', '{"a":1', '{}\ufeff', randomBytes(50)]) {
      const { status, body: problem } = await webhook('gateway_a', body)
      t.match(
        { status, code: problem?.code },
        { status: 400, code: 'INVALID_PAYLOAD' },
        String(body),
      )
    }
    const large = JSON.stringify({ filling: 'x'.repeat(1024 * 1024) })
    t.match(await webhook('gateway_b', large), { status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } })
    const { rows } = await sql`select from pgboss.job where name = 'payment-event'`.execute(db)
    t.equal(rows.length, 0)
  },
)

t.test('an event that begins with a byte order mark is kept with it, and posted', async t => {
  const service = await setup(t)
  await service.loan('L-1')
  const [a, b] = [capturedA({ loan: 'L-1' }), successB({ id: 1, loan: 'L-1' })].map(
    event => `\ufeff${JSON.stringify(event)}`,
  ) as [string, string]
  for (const [gateway, body] of [
    ['gateway_a', a],
    ['gateway_b', b],
  ] as const)
    t.equal((await service.webhook(gateway, body, { lender: 'LENDER_02' })).status, 200)
  matchEach(t, await service.raw('lender_02_gateway_a'), [
    { event_type: 'payment.captured', body: Buffer.from(a) },
  ])
  t.match(await service.batch(), { posted: 2 })
})

t.test('an event of 1 MiB is kept', async t => {
  const { webhook, raw } = await setup(t)
  const empty = JSON.stringify({ event: 'x', filling: '' })
  const body = JSON.stringify({ event: 'x', filling: 'x'.repeat(1024 * 1024 - empty.length) })
  t.equal((await webhook('gateway_b', body)).status, 200)
  const [row] = await raw('unknown_gateway_b')
  t.equal(row?.body.length, 1024 * 1024)
})

t.test('no header and no body, however odd, makes a 5xx', async t => {
  const { url, raw } = await setup(t)
  const bodies = [
    '{"event":"\\u0000\\ud800"}',
    '{"type":"\\u0000","account_id":{"a":[]},"payload":[1],"data":"x"}',
    '{"event":"x","__proto__":{"a":1},"payload":{"__proto__":null,"a":{"entity":{"notes":7}}}}',
    `{"event":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    `{"event":"${'x'.repeat(500_000)}"}`,
    '{"event":"a","event":1e999999}',
    '{"event":{"toString":1},"cf_event":{"toString":1}}',
  ]
  const oddHeaders: Record<string, string>[] = [
    { 'content-type': 'application/xml' },
    { 'content-type': '' },
    { 'content-type': 'application/json; charset=\u00ff' },
    { 'x-gatewaya-event-id': 'e'.repeat(12_000) },
    { 'x-gatewaya-signature': '\u0080\u00ff' },
    { 'x-idempotency-key': ',', 'x-webhook-signature': '====', 'x-webhook-timestamp': '\u00e9' },
    { 'x-forwarded-for': 'nobody, ::1%eth0', forwarded: 'for=x' },
    { cookie: 'a=b', 'x-internal-token': 'wrong' },
  ]
  const query = [
    '',
    '?lender=a&lender=b',
    '?lender[]=x',
    '?lender=%00',
    '?__proto__=1&x=y',
    '?lender=%',
  ]
  for (const gateway of ['gateway_a', 'gateway_b']) {
    for (const body of bodies) {
      for (const [i, headers] of oddHeaders.entries()) {
        const path = `/api/webhooks/${gateway}${query[i % query.length]}`
        const status = await barePost(url + path, body, headers)
        t.ok(status < 500, `${status} for ${path} ${JSON.stringify(headers).slice(0, 60)}`)
      }
    }
  }
  t.ok((await raw('unknown_gateway_a')).length > 0)
  t.ok((await raw('unknown_gateway_b')).length > 0)
})

t.test(
  'a signature with the lender’s secret is 200 and recorded, a wrong or missing one 401 and not stored',
  async t => {
    const { webhook, raw, call } = await setup(t, { GATEWAY_A_WEBHOOK_SECRET: 'new,old' })
    const body = JSON.stringify(capturedA())
    const lender = 'LENDER_02'
    for (const headers of [
      {},
      signedA('other', body),
      signedA('new', `${body} `),
      { 'x-gatewaya-signature': '' },
      { 'x-gatewaya-signature': 'zz'.repeat(32) },
      { 'x-gatewaya-signature': '0'.repeat(64) },
    ]) {
      const refused = await webhook('gateway_a', body, { lender, headers: headers as never })
      t.match(refused, { status: 401, body: { code: 'INVALID_SIGNATURE' } })
    }
    const upper = {
      'x-gatewaya-signature': signedA('old', body)['x-gatewaya-signature'].toUpperCase(),
    }
    t.equal(
      (await webhook('gateway_a', body, { lender, headers: signedA('new', body) })).status,
      200,
    )
    t.equal(
      (await webhook('gateway_a', `${body}\n`, { lender, headers: signedA('old', `${body}\n`) }))
        .status,
      200,
    )
    t.equal((await webhook('gateway_a', body, { lender: 'LENDER_06', headers: upper })).status, 200)
    t.same(
      (await raw('lender_02_gateway_a')).map(row => row.verified_by),
      ['LENDER_02', 'LENDER_02'],
    )
    t.same(
      (await raw('lender_06_gateway_a')).map(row => row.verified_by),
      ['LENDER_06'],
    )
    const { body: metrics } = await call('GET', '/metrics')
    t.match(metrics, /loanops_signature_failures_total\{gateway="gateway_a",lender="LENDER_02"\} 6/)
    t.match(metrics, /loanops_payment_events_total\{gateway="gateway_a",lender="LENDER_02"\} 2/)
  },
)

t.test(
  'an event of no lender is refused only if every lender validates and no secret fits',
  async t => {
    const file = lendersFile(t, {
      LENDER_02: { gateway_a: { secretEnv: 'SECRET_02' } },
      LENDER_07: { gateway_b: { validateSignature: true, secretEnv: 'SECRET_07' } },
    })
    const secrets = { GATEWAY_A_WEBHOOK_SECRET: 'all', SECRET_02: 'own', SECRET_07: 'b' }
    const { webhook, raw } = await setup(t, { LENDERS_FILE: file, ...secrets })
    const body = JSON.stringify(capturedA())
    t.equal((await webhook('gateway_a', body)).status, 401)
    t.equal((await webhook('gateway_a', body, { headers: signedA('own', body) })).status, 200)
    t.equal(
      (await webhook('gateway_a', `${body} `, { headers: signedA('all', `${body} `) })).status,
      200,
    )
    t.same(
      (await raw('unknown_gateway_a')).map(row => row.verified_by),
      ['LENDER_02', 'LENDER_01'],
    )
    const b = JSON.stringify(successB())
    t.equal((await webhook('gateway_b', b)).status, 200, 'other lenders do not validate gateway B')
    t.equal((await webhook('gateway_b', b, { lender: 'LENDER_07' })).status, 401)
    const signed = { lender: 'LENDER_07', headers: signedB('b', b) }
    t.equal((await webhook('gateway_b', b, signed)).status, 200)
    t.same(
      (await raw('lender_07_gateway_b')).map(row => row.verified_by),
      ['LENDER_07'],
    )
  },
)

t.test('the header names of gateway A can be those of a real account', async t => {
  const { webhook, raw } = await setup(t, {
    GATEWAY_A_WEBHOOK_SECRET: 's',
    GATEWAY_A_SIGNATURE_HEADER: 'X-Razorpay-Signature',
    GATEWAY_A_EVENT_ID_HEADER: 'X-Razorpay-Event-Id',
  })
  const body = JSON.stringify(capturedA())
  const signature = signedA('s', body)['x-gatewaya-signature']
  const headers = { 'x-razorpay-signature': signature, 'x-razorpay-event-id': 'evt_9' }
  t.equal((await webhook('gateway_a', body, { lender: 'LENDER_02', headers })).status, 200)
  matchEach(t, await raw('lender_02_gateway_a'), [{ event_id: 'evt_9', verified_by: 'LENDER_02' }])
})

t.test(
  'a repeat changes nothing and is counted: the same id and body, or the same body without an id',
  async t => {
    const { webhook, raw, call } = await setup(t)
    const lender = 'LENDER_02'
    const id = (id: string) => ({ lender, headers: { 'x-gatewaya-event-id': id } })
    await webhook('gateway_a', capturedA(), id('evt_1'))
    await webhook('gateway_a', capturedA(), id('evt_1'))
    await webhook('gateway_a', capturedA({ amount: 1 }), id('evt_1'))
    await webhook('gateway_a', capturedA(), id('evt_2'))
    await webhook('gateway_a', capturedA(), { lender })
    await webhook('gateway_a', capturedA(), { lender })
    t.equal((await raw('lender_02_gateway_a')).length, 4)
    const { body: metrics } = await call('GET', '/metrics')
    t.match(metrics, /loanops_payment_events_repeated_total\{gateway="gateway_a"\} 2/)
  },
)

t.test(
  'sixty-four concurrent first events of a lender and gateway create one raw table with all of them',
  async t => {
    const { webhook, raw, db } = await setup(t)
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        webhook('gateway_b', successB({ id: i }), { lender: `LENDER_0${1 + (i % 2)}` }),
      ),
    )
    t.ok(answers.every(({ status }) => status === 200))
    t.equal((await raw('lender_01_gateway_b')).length, 32)
    t.equal((await raw('lender_02_gateway_b')).length, 32)
    const { rows } = await sql`select from pgboss.job where name = 'payment-event-dead'`.execute(db)
    t.equal(rows.length, 0, 'none of them is a dead letter')
  },
)

t.test('a raw table is append-only', async t => {
  const { webhook, raw, db } = await setup(t)
  await webhook('gateway_a', capturedA(), { lender: 'LENDER_02' })
  await raw('lender_02_gateway_a')
  for (const change of [
    'update raw.lender_02_gateway_a set event_id = null',
    'delete from raw.lender_02_gateway_a',
    'truncate raw.lender_02_gateway_a',
  ])
    await t.rejects(sql.raw(change).execute(db), { message: /is append-only/ })
  t.equal((await raw('lender_02_gateway_a')).length, 1)
})

t.test('no table is created from a caller’s text', async t => {
  const { db } = await setup(t)
  for (const [lender, gateway] of [
    ['x; drop table raw.template', 'gateway_a'],
    ['LENDER_02', 'gateway_c'],
    ['lender_02', 'gateway_a'],
    ['', 'gateway_a'],
  ]) {
    await t.rejects(sql`select raw.make_store(${lender}, ${gateway})`.execute(db))
  }
})

t.test('an event that cannot be saved is a dead letter; others of its job are saved', async t => {
  const { webhook, raw, db } = await setup(t)
  await webhook('gateway_a', capturedA({ id: 'pay_0' }), { lender: 'LENDER_02' })
  await raw('lender_02_gateway_a')
  await sql`alter table raw.lender_02_gateway_a add check (event_id <> 'poison')`.execute(db)
  await Promise.all(
    ['evt_1', 'poison', 'evt_2'].map(id =>
      webhook('gateway_a', capturedA({ id }), {
        lender: 'LENDER_02',
        headers: { 'x-gatewaya-event-id': id },
      }),
    ),
  )
  const dead = await until(async () => {
    const { rows } = await sql<{ events: { eventId: string }[] }>`
      select data -> 'events' as events from pgboss.job
       where name = 'payment-event-dead'`.execute(db)
    return rows.length > 0 ? rows : undefined
  }, 'the poisoned event is given up')
  t.same(
    dead.flatMap(({ events }) => events.map(({ eventId }) => eventId)),
    ['poison'],
  )
  t.equal((await raw('lender_02_gateway_a')).length, 3)
})

t.test('an event that cannot be stored is 503 at once, with Retry-After', async t => {
  const { webhook, db } = await setup(t)
  await sql`alter schema pgboss rename to elsewhere`.execute(db)
  const { status, headers, body } = await webhook('gateway_a', capturedA())
  t.match({ status, body }, { status: 503, body: { code: 'UNAVAILABLE' } })
  t.ok(headers.get('retry-after'))
  await sql`alter schema elsewhere rename to pgboss`.execute(db)
})
