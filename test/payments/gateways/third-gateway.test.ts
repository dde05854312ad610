import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Gateway, PayloadFields } from '../../../src/payments/gateways/gateway.ts'
import type { ApiPayment, CallGateway } from '../../../src/payments/gateways/gateway-api.ts'
import { gateways } from '../../../src/payments/gateways/gateways.ts'
import { at } from '../../../src/payments/gateways/items/exact-json.ts'
import { shape } from '../../../src/payments/gateways/items/shape.ts'
import { fetchAll } from '../../support/books/gateways.ts'
import { oddGateway } from '../../support/books/odd-gateway.ts'
import { uploadStatement } from '../../support/books/statements.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { matchEach } from '../../support/match-each.ts'
import { paymentService } from '../../support/payments/payments.ts'
import { testEnv } from '../../support/service.ts'

const noItems = { returns: [], unreadable: [] }

/** A gateway that src does not know: a signature in plain sight, and one field per fact. */
const gatewayC = {
  name: 'gateway_c',
  title: 'gateway C',
  secretSetting: 'GATEWAY_C_WEBHOOK_SECRET',
  settings: { GATEWAY_C_SHOP: { description: 'our shop at gateway C', example: 'shop-1' } },
  rules: () => ({
    path: '/webhooks/gateway_c',
    headers: { 'x-c-secret': 'the secret itself' },
    signedBy: [{ header: 'x-c-secret', form: /./, holds: 'the secret' }],
    eventType: event => event.kind,
    isOwn: event => 'kind' in event,
    eventId: headers => headers['x-c-id'],
    accounts: event => [event.account],
    lenders: event => [at(event, 'notes.lender')],
    isSigned: (secret, _, headers) => headers['x-c-secret'] === secret,
  }),
  client: {
    exampleUrl: 'https://gateway-c.example.com/c',
    headers: ({ key, secret }, { GATEWAY_C_SHOP }) => ({
      authorization: [GATEWAY_C_SHOP, key, secret].join(' '),
    }),
    reads: call => ({
      lists: () => [pagesC(call)],
      payment: async wanted => (await paymentsC(call)).find(({ id }) => id === wanted),
      refundsOf: async () => noItems,
      refund: async () => undefined,
      dispute: async () => undefined,
      order: async () => undefined,
      async *settled() {},
    }),
    body: ({ item }) => item as PayloadFields,
  },
  reports: [
    {
      title: 'payments of gateway C',
      signature: ['c_id', 'c_amount'],
      columns: { gateway_payment_id: ['c_id'], amount: ['c_amount'], captured_at: ['c_at'] },
      read: fields => ({ said: { ...fields, currency: 'INR', status: 'captured' }, settled: null }),
    },
  ],
} as const satisfies Gateway

async function* pagesC(call: CallGateway) {
  yield { payments: await paymentsC(call), ...noItems }
}

async function paymentsC(call: CallGateway): Promise<ApiPayment[]> {
  const items = shape.list(await call({ method: 'GET', path: '/payments' }), 'items')
  return items.map(item => ({
    id: shape.text(item, 'id'),
    amount: shape.amount(item, 'amount'),
    currency: 'INR',
    statusFields: { state: shape.text(item, 'kind') },
    paidAt: shape.isoTime(item, 'at'),
    fee: null,
    tax: null,
    refunded: null,
    orderId: null,
    hasTags: true,
    item,
  }))
}

async function addGatewayC(db: Database): Promise<void> {
  await sql`
    create function base.gateway_c_facts(e jsonb) returns base.fact[] language sql stable as $$
      select array[base.captured(e ->> 'id', (e ->> 'amount')::numeric, 'INR', base.iso_time_of(e -> 'at'),
                     base.loan_of(e -> 'notes'), base.without_nulls(jsonb_build_object('mandate', e -> 'mandate')))]
    $$`.execute(db)
  await sql`
    create function base.gateway_c_status(fields jsonb) returns text language sql stable as $$
      select case fields ->> 'state' when 'paid' then 'captured' when 'failed' then 'failed' end
    $$`.execute(db)
  await sql`
    create function base.gateway_c_id(body bytea) returns text language sql stable as $$
      select base.found_at(body, '{"\\"id\\""}', '"id":"([a-z0-9]{1,60})"')
    $$`.execute(db)
  await sql`select base.add_gateway('gateway_c', '{}')`.execute(db)
}

const paid = (id: string, more: object = {}) => ({
  kind: 'paid',
  id,
  amount: '1000.50',
  at: '2026-02-05T10:00:00+05:30',
  notes: { loan_id: 'L-1' },
  ...more,
})

t.test('a gateway takes an object and three SQL functions; its payments are posted', async t => {
  const file = lendersFile(t, { LENDER_02: { gateway_c: { accounts: ['acc_c'] } } })
  const service = await paymentService(
    t,
    { LENDERS_FILE: file, GATEWAY_C_WEBHOOK_SECRET: 's' },
    { gateways: [...gateways, gatewayC], prepare: addGatewayC },
  )
  await service.loan('L-1')
  const send = async (event: object, headers: Record<string, string>) =>
    (await service.webhook('gateway_c' as 'gateway_a', event, { headers })).status
  t.equal(await send(paid('c1'), {}), 401, 'its setting has it validated by default')
  t.equal(await send(paid('c1', { account: 'acc_c' }), { 'x-c-secret': 's', 'x-c-id': '1' }), 200)
  // An operator may make a raw table by hand.
  await sql`create table raw.lender_11_gateway_c (like raw.template including all)`.execute(
    service.db,
  )
  t.match(await service.batch(), { discovered: 2, posted: 1 })
  t.match((await service.payment('c1', 'gateway_c')).payment, {
    state: 'posted',
    lender: 'LENDER_02',
    verified: true,
    raw_table: 'raw.lender_02_gateway_c',
  })
  matchEach(t, await service.repayments(), [{ externalId: 'gateway_c-c1', amount: '1000.50' }])
  const { rows } =
    await sql`select source, lender, gateway from ops.source order by source`.execute(service.db)
  t.same(rows, [
    { source: 'lender_02_gateway_c', lender: 'LENDER_02', gateway: 'gateway_c' },
    { source: 'lender_11_gateway_c', lender: 'LENDER_11', gateway: 'gateway_c' },
  ])
})

t.test('a reference names the loan of a third gateway’s payment', async t => {
  const service = await paymentService(
    t,
    {},
    { gateways: [...gateways, gatewayC], prepare: addGatewayC },
  )
  await service.loan('L-1')
  // The list of gateways that the route accepts is fixed when it is loaded.
  await sql`
    insert into core.reference (gateway, kind, value, external_loan_id, created_by)
    values ('gateway_c', 'mandate', 'mandate_1', 'L-1', 'asha.rao')`.execute(service.db)
  const event = paid('c7', { notes: {}, mandate: 'mandate_1' })
  await service.webhook('gateway_c' as 'gateway_a', event, { lender: 'LENDER_02' })
  t.match(await service.batch(), { posted: 1 })
  t.match((await service.payment('c7', 'gateway_c')).payment, {
    state: 'posted',
    external_loan_id: 'L-1',
    matched_by: 'mandate',
  })
})

t.test('a body of a third gateway that cannot be read shows the id of its payment', async t => {
  const service = await paymentService(
    t,
    {},
    { gateways: [...gateways, gatewayC], prepare: addGatewayC },
  )
  await service.loan('L-1')
  const send = (event: object | string) =>
    service.webhook('gateway_c' as 'gateway_a', event, { lender: 'LENDER_02' })
  await send(JSON.stringify(paid('c8')).replace('"1000.50"', '1e999999'))
  await send(paid('c9'))
  t.match(await service.batch(), { posted: 1 })
  const { rows } = await sql`
    select problem, hints from core.event where problem is not null`.execute(service.db)
  t.same(rows, [{ problem: 'unreadable', hints: { payment_id: 'c8' } }])
})

t.test('each gateway of the list has its SQL functions, and no other gateway has', async t => {
  const { db } = await freshDatabase(t)
  const { rows } = await sql<{ name: string }>`select name from core.gateway`.execute(db)
  t.same(
    rows.map(({ name }) => name).toSorted(),
    gateways.map(({ name }) => name).toSorted(),
    'without them, its events are acknowledged, and not saved',
  )
})

t.test('a gateway of which a function is missing is refused with that function’s name', async t => {
  const { db } = await freshDatabase(t)
  await addGatewayC(db)
  await sql`drop function base.gateway_c_id`.execute(db)
  await t.rejects(sql`select base.add_gateway('gateway_c', '{}')`.execute(db), {
    message: 'gateway_c needs the function base.gateway_c_id(bytea)',
  })
})

/** The service with gateway C, whose API has these payments. */
async function withApiOfC(t: Test, payments: object[], lenders: object = {}) {
  const { url } = await oddGateway(t, ({ path, headers }) => {
    const isAllowed = headers.authorization === 'shop-1 key-c secret-c'
    return isAllowed && path === '/c/payments' ? { items: payments } : undefined
  })
  const settings = {
    LENDERS_FILE: lendersFile(t, lenders),
    BACKFILL_CRON: '0 0 1 1 *',
    GATEWAY_C_API_URL: `${url}/c`,
    GATEWAY_C_API_KEY: 'key-c',
    GATEWAY_C_API_SECRET: 'secret-c',
    GATEWAY_C_SHOP: 'shop-1',
  }
  return paymentService(t, settings, { gateways: [...gateways, gatewayC], prepare: addGatewayC })
}

t.test('a third gateway’s payments are fetched, for the lender that they name', async t => {
  const service = await withApiOfC(t, [
    paid('c2', { notes: { loan_id: 'L-3', lender: 'LENDER_03' } }),
  ])
  await service.loan('L-3', { product: 3 })
  t.match(await fetchAll(service.call, 'gateway_c'), { status: 'completed', missed: 1 })
  t.match(await service.batch(), { posted: 1 })
  t.match((await service.payment('c2', 'gateway_c')).payment, {
    state: 'posted',
    lender: 'LENDER_03',
    amount: '1000.50',
    raw_table: 'raw.lender_03_gateway_c',
  })
  const { rows } = await sql`
    select gateway, lender, amount::text, source from ops.statement`.execute(service.db)
  t.same(rows, [{ gateway: 'gateway_c', lender: 'LENDER_03', amount: '1000.50', source: 'api' }])
})

t.test('a third gateway confirms the events of a lender with `confirm`', async t => {
  const lenders = { LENDER_06: { gateway_c: { confirm: true } } }
  const service = await withApiOfC(t, [paid('c3')], lenders)
  await service.loan('L-1', { product: 6 })
  const send = (id: string) =>
    service.webhook('gateway_c' as 'gateway_a', paid(id), { lender: 'LENDER_06' })
  await send('c3')
  await send('forged')
  await service.batch()
  const stateOf = async (id: string) => (await service.payment(id, 'gateway_c')).payment
  t.match(await stateOf('c3'), { state: 'posted', lender: 'LENDER_06', verified: true })
  t.not((await stateOf('forged')).state, 'posted')
})

t.test('a third gateway’s report is recognised, and refused as another gateway’s', async t => {
  const service = await withApiOfC(t, [])
  const csv = 'C id,C amount,C at\nc4,17.00,2026-02-05T10:00:00+05:30\n'
  const to = (gateway: string) =>
    uploadStatement(service.url, `${gateway}/statement?lender=LENDER_02`, csv)
  t.match(await to('gateway_c'), { status: 201, body: { valid_rows: 1, ignored_columns: [] } })
  t.match(
    (await to('gateway_a')).body.detail,
    /^This is a report of payments of gateway C, .*: choose gateway_c as its gateway/,
  )
  const { rows } = await sql`
    select gateway, amount::text, source from ops.statement`.execute(service.db)
  t.same(rows, [{ gateway: 'gateway_c', amount: '17.00', source: 'file' }])
})

/** The lines with which the start fails. */
function complaints(changes: NodeJS.ProcessEnv, third: Gateway = gatewayC): string[] {
  const env = testEnv('postgres://u:p@127.0.0.1:5432/d', 'http://127.0.0.1:1/api/v1', changes)
  try {
    readConfig(env, [...gateways, third])
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

t.test('a third gateway’s missing or wrong settings stop the start with an example', async t => {
  const GATEWAY_C_API_URL = 'https://api.example/c'
  matchEach(t, complaints({ GATEWAY_C_API_URL }), [
    /^GATEWAY_C_API_KEY is missing: the key for gateway C’s API. Example: GATEWAY_C_API_KEY=/,
    /^GATEWAY_C_API_SECRET is missing: the secret for gateway C’s API. Example: /,
  ])
  const GATEWAY_C_API_SECRET = 'secret-of-the-api'
  const all = { GATEWAY_C_API_URL, GATEWAY_C_API_KEY: 'key', GATEWAY_C_API_SECRET: 'secret' }
  t.same(complaints(all), [])
  matchEach(t, complaints({ ...all, GATEWAY_C_API_SECRET, GATEWAY_C_API_URL: 'https://api' }), [
    /^GATEWAY_C_API_URL is invalid: .* up to and including \/c,/,
    /^GATEWAY_C_API_SECRET holds the secret of LoanOps’s own example/,
  ])
})

t.test('no process starts with settings for a gateway’s API that has no client', async t => {
  const { client: _, ...without } = gatewayC
  const all = {
    GATEWAY_C_API_URL: 'https://api.example',
    GATEWAY_C_API_KEY: 'key',
    GATEWAY_C_API_SECRET: 'secret',
  }
  matchEach(t, complaints(all, without), [/^GATEWAY_C_API_URL: .* no client/])
  const LENDERS_FILE = lendersFile(t, { LENDER_06: { gateway_c: { confirm: true } } })
  matchEach(t, complaints({ LENDERS_FILE }, without), [/^GATEWAY_C_API_URL: .* no client/])
})
