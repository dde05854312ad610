import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import { allQueues } from '../../../src/worker.ts'
import { databaseUrl } from '../../support/database/template.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA, successB } from '../../support/payments/gateway-events.ts'
import {
  LENDER,
  ownLoan,
  paymentService,
  runBatch,
  serviceWithSource,
} from '../../support/payments/payments.ts'
import { caller } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const bytes = (event: object) => Buffer.from(JSON.stringify(event))

/** The tests that change no table and count no batch of others share this service. */
const shared = await paymentService(t)

t.test('a request returns the batch run that waits, or a new one while one is running', async t => {
  const service = await paymentService(t, { LEDGER_TIMEOUT_MS: '30000' })
  await service.loan('L-1')
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  await service.faults([{ kind: 'latency', ms: 4_000, match: { on: 'writes' } }])
  const ask = async () => (await service.call('POST', '/api/payments/batch')).body.batch_id
  const statusOf = async (id: string) =>
    (await service.call('GET', `/api/payments/batches/${id}`)).body.status
  const first = await ask()
  await until(async () => ((await statusOf(first)) === 'running' ? true : undefined), 'it runs')
  const [second, third] = [await ask(), await ask()]
  t.not(second, first)
  t.equal(third, second)
  t.same([await statusOf(first), await statusOf(second)], ['running', 'waiting'])
  await until(async () => ((await statusOf(second)) === 'completed' ? true : undefined), 'it ends')
  const { body } = await service.call('GET', '/api/payments/batches?limit=1')
  matchEach(t, body.batches, [{ batch_id: second, status: 'completed', trigger: 'request' }])
  const next = await service.call('GET', `/api/payments/batches?cursor=${body.next_cursor}`)
  t.match(next.body, {
    batches: [{ batch_id: first, posted: 1, transformed: 1, discovered: 1 }],
    next_cursor: null,
  })
})

t.test('one batch runs at a time, however many workers there are', async t => {
  const service = await paymentService(t)
  const second = await startRole(service.config, logger('silent'))
  t.teardown(() => second.close())
  await sql`create table overlapping (count integer)`.execute(service.db)
  await sql`
    create function note_overlap() returns trigger language plpgsql security definer as $$ begin
      insert into overlapping select count(*) from core.batch_run where status = 'running' having count(*) > 1;
      return null; end $$`.execute(service.db)
  await sql`create trigger note_overlap after update on core.batch_run for each row execute function note_overlap()`.execute(
    service.db,
  )
  const calls = [service.call, caller(second.url)]
  await Promise.all(Array.from({ length: 6 }, (_, i) => runBatch(calls[i % 2] as never)))
  const { rows } = await sql`select from overlapping`.execute(service.db)
  t.equal(rows.length, 0)
})

t.test('a batch request with members is 400, an unknown batch 404, a wrong cursor 400', async t => {
  const { call } = shared
  t.match(await call('POST', '/api/payments/batch', { now: true }), {
    status: 400,
    body: { errors: [{ path: '/now' }] },
  })
  t.equal((await call('POST', '/api/payments/batch', {})).status, 202)
  t.equal((await call('GET', '/api/payments/batches/x')).status, 404)
  t.equal((await call('GET', '/api/payments/batches?cursor=x')).status, 400)
  t.equal((await call('GET', '/api/payments?state=lost')).status, 400)
  t.equal((await call('GET', '/api/payments?limit=201')).status, 400)
})

t.test(
  'a row that commits late, with an id and a time before others that were taken, is not skipped',
  async t => {
    const service = await serviceWithSource(t)
    const late = new pg.Client(service.databaseUrl)
    await late.connect()
    t.teardown(() => late.end())
    await late.query('begin')
    await late.query(
      `insert into raw.lender_02_gateway_a (id, received_at, body) values ('00000000-0000-7000-8000-000000000001', now() - interval '1 day', $1)`,
      [bytes(capturedA({ id: 'pay_late', loan: 'L-1' }))],
    )
    await service.webhook('gateway_a', capturedA({ id: 'pay_early', loan: 'L-1' }), LENDER)
    await service.batch()
    t.match((await service.payment('pay_early')).payment, { state: 'posted' })
    await late.query('commit')
    await service.batch()
    t.match((await service.payment('pay_late')).payment, { state: 'posted' })
  },
)

t.test('a handmade raw table of an unknown lender is in the next batch with all rows', async t => {
  const service = await paymentService(t)
  await service.ledgerCall('GET', '/loanproducts')
  await sql`
      create table raw.lender_11_gateway_a (like raw.template including all)`.execute(service.db)
  await sql`
      insert into raw.lender_11_gateway_a (body)
       values (${bytes(capturedA({ id: 'pay_11' }))})`.execute(service.db)
  const run = await service.batch()
  t.match(run, { discovered: 1, transformed: 1, suspended: 1 })
  t.match((await service.payment('pay_11')).payment, {
    lender: 'LENDER_11',
    reason: 'no_loan_named',
  })
  await t.rejects(sql`delete from raw.lender_11_gateway_a`.execute(service.db))
  await sql`
      insert into raw.lender_11_gateway_a (body)
       values (${bytes(capturedA({ id: 'pay_12' }))})`.execute(service.db)
  t.match(await service.batch(), { discovered: 0, transformed: 1 })
  const { rows } = await sql`select * from ops.source`.execute(service.db)
  matchEach(t, rows, [
    {
      source: 'lender_11_gateway_a',
      lender: 'LENDER_11',
      gateway: 'gateway_a',
      events: '2',
      events_behind: '0',
    },
  ])
})

t.test('a table with other columns delays no other source; the run shows the error', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await sql`create table raw.lender_03_gateway_a (id integer)`.execute(service.db)
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), LENDER)
  const run = await service.batch()
  t.match(run, { status: 'completed', discovered: 1, posted: 1, last_error: /lender_03_gateway_a/ })
})

t.test(
  'an operator’s view survives discovery and migrate; only the row it fails on becomes unreadable',
  async t => {
    const service = await serviceWithSource(t)
    await sql`
    create or replace view base.lender_02_gateway_a as
    select r.id as raw_id, r.received_at, r.event_id, r.event_type, r.address, r.verified_by,
           f.kind, f.payment_id, f.of_payment_id, f.status, f.amount + 0 / (f.amount - 13)::integer as amount, f.currency,
           f.paid_at, (convert_from(r.body, 'UTF8')::jsonb ->> 'our_loan')::text as external_loan_id, f.problem, f.hints
      from raw.lender_02_gateway_a r cross
       join lateral base.gateway_a(r.body) f`.execute(service.db)
    await migrate(
      databaseUrl(
        process.env.TEST_DATABASE_URL as string,
        new URL(service.databaseUrl).pathname.slice(1),
      ),
      allQueues,
    )
    for (let i = 1; i <= 9; i++) {
      const event = {
        ...capturedA({ id: `pay_${i}`, amount: i === 5 ? 1_300 : 100_000 }),
        our_loan: 'L-1',
      }
      await service.webhook('gateway_a', event, LENDER)
    }
    t.match(await service.batch(), { transformed: 9, posted: 8, suspended: 1 })
    t.match((await service.payment('pay_1')).payment, { external_loan_id: 'L-1', state: 'posted' })
    const { body } = await service.call('GET', '/api/payments?state=suspense')
    matchEach(t, body.payments, [{ reason: 'unreadable', hints: { error: /division by zero/ } }])
  },
)

t.test('rows of an operator’s own view are checked like all others', async t => {
  const service = await serviceWithSource(t)
  await sql`
    create or replace view base.lender_02_gateway_a as
    select r.id as raw_id, r.received_at, r.event_id, r.event_type, r.address, r.verified_by, 'payment'::text as kind,
           p ->> 'id' as payment_id, null::text as of_payment_id, 'captured'::text as status,
           (p ->> 'rupees')::numeric as amount, 'INR'::text as currency,
           to_timestamp((p ->> 'created_at')::float8) as paid_at, 'L-1'::text as external_loan_id,
           null::text as problem, null::jsonb as hints
      from raw.lender_02_gateway_a r
     cross join lateral (select convert_from(r.body, 'UTF8')::jsonb #> '{payload,payment,entity}') as j (p)`.execute(
    service.db,
  )
  const views: Record<string, object> = {
    none: {},
    timeless: { rupees: 10, created_at: null },
    zero: { rupees: 0 },
    fraction: { rupees: 10.005 },
    right: { rupees: 10 },
  }
  for (const [id, payment] of Object.entries(views))
    await service.webhook('gateway_a', capturedA({ id, payment }), LENDER)
  t.match(await service.batch(), { posted: 1, suspended: 3 })
  t.match((await service.payment('fraction')).payment, { reason: 'amount_invalid' })
  t.equal((await service.payment('zero')).payment, undefined, 'zero is ignored')
  const { body } = await service.call('GET', '/api/payments?state=suspense')
  const unreadable = body.payments.filter((one: any) => one.reason === 'unreadable')
  t.same(
    unreadable.map((one: any) => one.gateway_payment_id).sort(),
    unreadable.map((one: any) => one.raw_id).sort(),
  )
  t.equal(unreadable.length, 2)
})

t.test('a raw row that is JSON but not an object is unreadable', async t => {
  const service = await paymentService(t)
  for (const gateway of ['gateway_a', 'gateway_b']) {
    const table = sql.table(`raw.lender_07_${gateway}`)
    await sql`create table ${table} (like raw.template including all)`.execute(service.db)
    for (const text of ['[]', '5', 'null', '"x"', '[{"event":"payment.captured"}]'])
      await sql`insert into ${table} (body) values (${Buffer.from(text)})`.execute(service.db)
  }
  t.match(await service.batch(), { transformed: 10, suspended: 10 })
})

t.test('large events are read a few at a time, so no statement of a batch times out', async t => {
  const service = await paymentService(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(service.db)
  await sql`
    insert into raw.lender_02_gateway_a (body)
    select convert_to(json_build_object('n', n, 'text', repeat('x', 1024 * 1024))::text, 'UTF8')
      from generate_series(1, 80) n`.execute(service.db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(service.db)
  const { rows } = await sql<{ taken: string }>`
    select taken from core.transform('lender_02_gateway_a', 5000)`.execute(service.db)
  t.equal(Number(rows[0]?.taken), 64, '64 MiB')
  t.match(await service.batch(), { transformed: 80 - 64 })
})

t.test('rows of a broken view wait for a later batch, and the other sources continue', async t => {
  const service = await serviceWithSource(t)
  await sql`alter view base.lender_02_gateway_a rename column payment_id to pid`.execute(service.db)
  await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'L-1' }), LENDER)
  await service.webhook('gateway_b', successB({ loan: 'L-1' }), LENDER)
  t.match(await service.batch(), { posted: 1, last_error: /payment_id/ })
  const { rows } =
    await sql`select events_behind from ops.source where gateway = 'gateway_a'`.execute(service.db)
  matchEach(t, rows, [{ events_behind: '1' }])
  await sql`alter view base.lender_02_gateway_a rename column pid to payment_id`.execute(service.db)
  t.match(await service.batch(), { posted: 1 })
})

t.test('the payments of a loan are posted in the order in which they were paid', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await service.loan('L-2')
  const times = [5, 3, 9, 1, 7, 2, 8, 4, 6]
  await Promise.all(
    times.flatMap(hour =>
      ['L-1', 'L-2'].map(loan =>
        service.webhook(
          'gateway_a',
          capturedA({
            id: `pay_${loan.at(-1)}_${hour}`,
            loan,
            payment: { created_at: 1_770_000_000 + hour * 3_600 },
          }),
          LENDER,
        ),
      ),
    ),
  )
  await service.batch()
  const booked = await service.repayments()
  for (const loan of ['1', '2']) {
    const hours = booked
      .map(one => one.externalId ?? '')
      .filter(id => id.startsWith(`gateway_a-pay_${loan}_`))
      .map(id => Number(id.split('_').at(-1)))
    t.same(hours, [...times].sort(), `loan ${loan}`)
  }
})

t.test(
  'one call returns a payment’s history: each raw event with its verification, and each attempt',
  async t => {
    const { id, loan } = await ownLoan(shared)
    await shared.faults([{ kind: 'drop', match: { on: 'writes' }, times: 1 }])
    const body = JSON.stringify(capturedA({ id, loan }))
    await shared.webhook('gateway_a', body, {
      ...LENDER,
      headers: { 'x-gatewaya-event-id': 'evt_1' },
    })
    await shared.webhook('gateway_a', `${body} `)
    await shared.batch()
    const told = await until(async () => {
      const answer = await shared.payment(id)
      return answer.payment.state === 'posted' ? answer : undefined
    }, 'it is posted')
    matchEach(t, told.events, [
      { raw_table: 'raw.unknown_gateway_a', event_id: null },
      {
        raw_table: 'raw.lender_02_gateway_a',
        event_id: 'evt_1',
        event_type: 'payment.captured',
        verified_by: null,
        address: '127.0.0.1',
        counts: true,
        headers: null,
        body_base64: null,
      },
    ])
    matchEach(t, told.attempts, [
      { attempt: 1, outcome: 'unknown', http_status: null },
      { attempt: 2, outcome: 'done', http_status: 200 },
    ])
    t.equal((await shared.repayments(loan)).length, 1)
  },
)

t.test('lists go on by their cursor, each payment once', async t => {
  const ids = Array.from({ length: 7 }, (_, i) => `pay_listed_${i}`)
  for (const id of ids) await shared.webhook('gateway_a', capturedA({ id, loan: 'none' }), LENDER)
  await shared.batch()
  const seen: string[] = []
  let cursor = ''
  do {
    const path = `/api/payments?loan=none&state=suspense&gateway=gateway_a&limit=3${cursor}`
    const { body } = await shared.call('GET', path)
    seen.push(...body.payments.map((one: any) => one.gateway_payment_id))
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  t.same(seen.sort(), ids)
})

t.test('the metrics show the seconds of each stage', async t => {
  const service = await paymentService(t)
  await service.batch()
  const { body } = await service.call('GET', '/metrics')
  for (const stage of ['discover', 'transform', 'post'])
    t.match(body, new RegExp(`loanops_batch_seconds_count\\{stage="${stage}"\\} 1`))
})
