import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { backfillQueue } from '../../src/books/backfill/queue.ts'
import { requestScheduled } from '../../src/books/backfill/request-backfill.ts'
import { newId } from '../../src/ids.ts'
import { fetchAll, fetched, gatewaySandbox, requestFetch } from '../support/books/gateways.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { type PaymentService, paymentService } from '../support/payments/payments.ts'
import { wake } from '../support/queue/wake.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

async function withGatewayA(t: Test) {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, {
    ...gateways.settings,
    GATEWAY_B_API_URL: '',
    GATEWAY_B_API_KEY: '',
    GATEWAY_B_API_SECRET: '',
  })
  return { gateways, service }
}

/** Requests a fetch as the schedule does. @returns the fetch, once it has ended */
async function scheduled({ db, call, config }: PaymentService) {
  await db.transaction().execute(trx => requestScheduled(trx, config.gatewayAccounts))
  await wake(db, backfillQueue)
  return until(async () => {
    const { body } = await call('GET', '/api/gateways/backfills?limit=1')
    return body.backfills[0]?.ended_at != null && body.backfills[0]
  }, 'the fetch ends')
}

// Each waits for fetches, which read day after day.
t.jobs = 3

t.test(
  'the first scheduled fetch looks back seven days, and the next begins two hours before its end',
  async t => {
    const { gateways, service } = await withGatewayA(t)
    const created = (hours: number) => ({
      gateway: 'gateway_a',
      id: `pay_${hours}`,
      created_at: ago(hours).toISOString(),
    })
    await gateways.put('/payments', [created(1), created(24 * 6), created(24 * 8)])
    const first = await scheduled(service)
    t.match(first, { status: 'completed', fetched: 2, missed: 2, lender: null })
    t.equal(Date.parse(first.to) - Date.parse(first.from), 7 * 24 * HOUR_MS)
    const second = await scheduled(service)
    t.match(second, { status: 'completed', missed: 0 })
    t.equal(Date.parse(second.from), Date.parse(first.to) - 2 * HOUR_MS)
  },
)

t.test('a clock that was ahead at the last scheduled fetch does not stop the next', async t => {
  const { service } = await withGatewayA(t)
  await scheduled(service)
  await sql`update core.backfill set window_to = window_to + interval '1 day'`.execute(service.db)
  t.match(await scheduled(service), { status: 'completed', last_error: null })
  const { rows } = await sql`select from core.backfill where window_to > now()`.execute(service.db)
  t.equal(rows.length, 1)
})

t.test('a fetch on demand does not move the point where the schedule goes on', async t => {
  const { service } = await withGatewayA(t)
  const first = await scheduled(service)
  const [from, to] = [ago(1).toISOString(), new Date().toISOString()]
  await fetchAll(service.call, 'gateway_a', { from, to })
  t.equal(Date.parse((await scheduled(service)).from), Date.parse(first.to) - 2 * HOUR_MS)
})

t.test('a payment that is captured days after it failed is found by a later fetch', async t => {
  const { gateways, service } = await withGatewayA(t)
  const late = { gateway: 'gateway_a', id: 'pay_1', created_at: ago(72).toISOString() }
  await gateways.put('/payments', { ...late, status: 'failed' })
  t.match(await scheduled(service), { fetched: 1, missed: 0 })
  await gateways.put('/payments', { ...late, status: 'captured' })
  t.match(await scheduled(service), { fetched: 1, missed: 1 })
  const { rows } = await sql<object>`select status from ops.statement`.execute(service.db)
  t.same(rows, [{ status: 'captured' }])
})

t.test('a late capture is found though the days before and after it were not fetched', async t => {
  const { gateways, service } = await withGatewayA(t)
  const late = { gateway: 'gateway_a', id: 'pay_1', created_at: ago(150).toISOString() }
  await gateways.put('/payments', { ...late, status: 'failed' })
  t.match(await scheduled(service), { fetched: 1, missed: 0 })
  await sql`update core.backfill set window_to = ${ago(144)}`.execute(service.db)
  await gateways.put('/payments', { ...late, status: 'captured' })
  t.match(await scheduled(service), { fetched: 1, missed: 1 })
})

t.test('a gateway that fails ends the fetch with a reason; the next makes up for it', async t => {
  const { gateways, service } = await withGatewayA(t)
  const created_at = ago(1).toISOString()
  await gateways.put('/payments', { gateway: 'gateway_a', id: 'pay_1', created_at })
  const { body: before } = await service.call('GET', '/api/gateways')
  t.match(before.gateways, [{ gateway: 'gateway_a', lender: null, fetched_until: null, missed: 0 }])
  await gateways.put('/faults', [{ kind: 'garbage', times: 1 }])
  t.match(await scheduled(service), {
    status: 'failed',
    last_error: 'gateway A: items is not a list',
    missed: 0,
  })
  const { body: failed } = await service.call('GET', '/api/gateways')
  t.match(failed.gateways, [{ fetched_until: null, last_error: 'gateway A: items is not a list' }])
  // The next fetch, once asked for, does not know yet whether it fails.
  await service.db.transaction().execute(async trx => {
    await requestScheduled(trx, service.config.gatewayAccounts)
    const { rows } = await sql`select last_error from ops.gateway`.execute(trx)
    t.match(rows, [{ last_error: 'gateway A: items is not a list' }])
  })
  await gateways.put('/faults', [
    { kind: 'tooMany', times: 1, retryAfter: '0' },
    { kind: 'error', status: 502, times: 1 },
  ])
  const run = await scheduled(service)
  t.match(run, { status: 'completed', missed: 1, last_error: null })
  const { body: after } = await service.call('GET', '/api/gateways')
  t.match(after.gateways, [{ fetched_until: run.to, last_error: null, missed: 1 }])
})

t.test('the last error of a gateway is not shown without its API credentials', async t => {
  const { db } = await freshDatabase(t)
  await sql`select raw.register(raw.make_store('LENDER_02', 'gateway_a'))`.execute(db)
  await sql`insert into core.gateway_account (gateway, account) values ('gateway_a', '')`.execute(
    db,
  )
  await sql`
    insert into core.backfill (id, trigger, gateway, account, window_from, window_to, fetch_from, done_until, status, ended_at, last_error)
    values (${newId()}, 'request', 'gateway_a', '', ${ago(2)}, ${ago(1)}, ${ago(2)}, ${ago(2)}, 'failed', now(), 'answered 401')`.execute(
    db,
  )
  const lastError = async () => {
    const { rows } = await sql<object>`
      select last_error from ops.gateway where lender = 'LENDER_02'`.execute(db)
    return rows
  }
  t.same(await lastError(), [{ last_error: 'answered 401' }])
  await sql`delete from core.gateway_account`.execute(db)
  t.same(await lastError(), [{ last_error: null }])
})

t.test('wrong credentials end the fetch, and no message repeats them', async t => {
  const gateways = await gatewaySandbox(t)
  const service = await paymentService(t, {
    ...gateways.settings,
    GATEWAY_A_API_SECRET: 'a-wrong-secret',
    GATEWAY_B_API_SECRET: 'a-wrong-secret',
  })
  for (const gateway of ['gateway_a', 'gateway_b']) {
    const run = await fetchAll(service.call, gateway)
    t.match(run, { status: 'failed', last_error: /answered 401/ })
    t.notMatch(JSON.stringify(run), /wrong-secret/)
  }
})

t.test('fetches that somebody asks for do not put off the scheduled one', async t => {
  const { service } = await withGatewayA(t)
  const { db, config } = service
  await db.transaction().execute(async trx => {
    for (const id of [newId(), newId()])
      await sql`
        insert into core.backfill (id, trigger, gateway, account, window_from, window_to, fetch_from, done_until)
        values (${id}, 'request', 'gateway_a', '', ${ago(2)}, ${ago(1)}, ${ago(2)}, ${ago(2)})`.execute(
        trx,
      )
    await requestScheduled(trx, config.gatewayAccounts)
  })
  await wake(db, backfillQueue)
  await until(async () => {
    const { rows } = await sql`select from core.backfill where ended_at is null`.execute(db)
    return rows.length === 0
  }, 'all fetches end')
  const { rows } = await sql<{ trigger: string }>`
    select trigger from core.backfill order by started_at`.execute(db)
  t.same(rows, [{ trigger: 'schedule' }, { trigger: 'request' }, { trigger: 'request' }])
})

t.test('scheduled fetches that are due in a row let those on demand go between', async t => {
  const { service } = await withGatewayA(t)
  const { db, call, config } = service
  await scheduled(service)
  const { rows } = await db.transaction().execute(async trx => {
    await requestScheduled(trx, config.gatewayAccounts)
    return sql<{ id: string }>`
      insert into core.backfill (id, trigger, gateway, account, window_from, window_to, fetch_from, done_until)
      values (${newId()}, 'request', 'gateway_a', '', ${ago(2)}, ${ago(1)}, ${ago(2)}, ${ago(2)})
      returning id`.execute(trx)
  })
  await wake(db, backfillQueue)
  const [one] = rows
  const onDemand = await fetched(call, one?.id as string)
  const next = await until(async () => {
    const { body } = await call('GET', '/api/gateways/backfills?limit=2')
    return body.backfills.every(({ ended_at }: any) => ended_at !== null) && body.backfills[1]
  }, 'the scheduled fetch ends')
  t.ok(onDemand.ended_at <= next.started_at, `${onDemand.ended_at} ${next.started_at}`)
})

t.test('a second fetch of a source waits for the first one', async t => {
  const { gateways, service } = await withGatewayA(t)
  await gateways.put('/faults', [{ kind: 'latency', ms: 200 }])
  const first = await requestFetch(service.call, 'gateway_a')
  const second = await requestFetch(service.call, 'gateway_a')
  const [one, two] = [await fetched(service.call, first), await fetched(service.call, second)]
  t.ok(one.ended_at <= two.started_at, `${one.ended_at} ${two.started_at}`)
  const { body } = await service.call('GET', '/api/gateways/backfills?limit=1')
  t.match(body, { backfills: [{ backfill_id: second }] })
  const { body: next } = await service.call(
    'GET',
    `/api/gateways/backfills?limit=1&cursor=${body.next_cursor}`,
  )
  t.match(next, { backfills: [{ backfill_id: first }], next_cursor: null })
})

t.test('a window is complete once its fetch is, and grows with the next', async t => {
  const { service } = await withGatewayA(t)
  await fetchAll(service.call, 'gateway_a', {
    from: '2026-02-01T00:00:00Z',
    to: '2026-04-01T00:00:00Z',
  })
  await fetchAll(service.call, 'gateway_a', {
    from: '2026-03-31T00:00:00Z',
    to: '2026-04-02T00:00:00Z',
  })
  const { rows } = await sql<object>`
    select gateway, lender, source, lower(covers) as "from", upper(covers) as "to"
     from core.gateway_window`.execute(service.db)
  t.same(rows, [
    {
      gateway: 'gateway_a',
      lender: null,
      source: 'api',
      from: new Date('2026-02-01T00:00:00Z'),
      to: new Date('2026-04-02T00:00:00Z'),
    },
  ])
})
