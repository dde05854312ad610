import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { IMPATIENT } from '../../src/books/apis/gateway-call.ts'
import { gatewayOfAccount, openGatewayApi } from '../../src/books/apis/open-gateway-api.ts'
import { type LeftOut, unlessUnsaid } from '../../src/books/backfill/fetch.ts'
import { fetchWindow } from '../../src/books/backfill/fetch-window.ts'
import { savePages } from '../../src/books/backfill/save-pages.ts'
import { readConfig } from '../../src/config/config.ts'
import type { GatewayAccount } from '../../src/config/gateway-accounts.ts'
import type { ApiPage, Window } from '../../src/payments/gateways/gateway-api.ts'
import { GatewayUnavailable } from '../../src/payments/gateways/items/gateway-errors.ts'
import { majorUnits } from '../../src/payments/gateways/items/major-units.ts'
import { itemOfA, rowOfB } from '../support/books/odd-gateway.ts'
import { serve } from '../support/http/serve.ts'
import { capturedA } from '../support/payments/gateway-events.ts'
import { paymentService, SECRET, sendSigned } from '../support/payments/payments.ts'
import { testEnv } from '../support/service.ts'

const THREE_DAYS = { from: new Date('2026-02-05T00:00:00Z'), to: new Date('2026-02-08T00:00:00Z') }

/** What is fetched of three days from gateway A, which has a payment of each day, while it fails to answer these paths. */
async function fetchFailing(t: Test, failing: RegExp) {
  const asked: string[] = []
  const url = await serve(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gateway')
    asked.push(pathname)
    if (failing.test(pathname)) response.statusCode = 500
    const created_at = searchParams.get('from')
    const items = pathname === '/v1/payments' ? [itemOfA(`pay_${created_at}`, { created_at })] : []
    response.end(JSON.stringify({ items }))
  })
  const pages: ApiPage[] = []
  const wholeDays: Window[] = []
  const failed = await fetchPages(t, { gateway: 'gateway_a', url: `${url}/v1` }, pages, wholeDays)
  const payments = pages.flatMap(page => page.payments).length
  return { payments, wholeDays: wholeDays.length, failed: failed?.message, asked }
}

/** Fetches three days' pages. */
async function fetchPages(
  t: Test,
  account: Pick<GatewayAccount, 'gateway' | 'url'>,
  pages: ApiPage[],
  wholeDays: Window[] = [],
): Promise<Error | undefined> {
  const api = openGatewayApi(readConfig(testEnv('postgres://h/d', 'http://h/api/v1', {})), {
    account: { lender: null, key: 'key', secret: 'secret', ...account },
    majorUnits: majorUnits({ '': 0.01 }),
    patience: IMPATIENT,
  })
  t.teardown(() => api.close())
  const saver = {
    check() {},
    async pages(found: ApiPage[]) {
      pages.push(...found)
      return found.flatMap(({ unsaid }) => unsaid ?? [])[0]
    },
    async settlements() {},
    async end(day: Window) {
      wholeDays.push(day)
    },
  }
  return fetchWindow(api, THREE_DAYS, 0, saver).then(
    () => undefined,
    (error: Error) => error,
  )
}

t.test(
  'a list that keeps failing keeps no payment from the fetch, and no day is whole',
  async t => {
    for (const failing of ['settlements', 'disputes', 'refunds'])
      t.match(await fetchFailing(t, new RegExp(`^/v1/${failing}`)), {
        payments: 3,
        wholeDays: 0,
        failed: `it answered 500 to GET ${failing}`,
      })
  },
)

t.test(
  'a list that fails once is left to the next fetch, and the others are still read',
  async t => {
    const lists = ['settlements', 'refunds', 'disputes']
    for (const failing of lists) {
      const { asked } = await fetchFailing(t, new RegExp(`^/v1/${failing}`))
      const times = (list: string) => asked.filter(path => path.startsWith(`/v1/${list}`)).length
      t.equal(times(failing), 1)
      for (const list of lists) if (list !== failing) t.ok(times(list) >= 3, `${failing} ${list}`)
    }
  },
)

t.test(
  'refunds of gateway B that it keeps failing to show keep no payment from the fetch',
  async t => {
    const asked: string[] = []
    const url = await serve(t, async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString()
      const { pathname } = new URL(request.url ?? '', 'http://gateway')
      asked.push(pathname)
      if (pathname.startsWith('/pg/orders')) response.statusCode = 500
      const time = text === '' ? '' : JSON.parse(text).filters.start_date
      const ofDay = (id: string, event_type: string) =>
        rowOfB(id, { event: { event_type, event_time: time }, payment: { payment_time: time } })
      const rows = [ofDay(time, 'PAYMENT'), ofDay('2', 'REFUND'), ofDay('3', 'REFUND')]
      response.end(JSON.stringify({ data: pathname === '/pg/recon' ? rows : [], cursor: null }))
    })
    const pages: ApiPage[] = []
    const failed = await fetchPages(t, { gateway: 'gateway_b', url: `${url}/pg` }, pages)
    t.match(failed, { message: 'it answered 500 to GET orders/…/refunds' })
    t.equal(pages.flatMap(({ payments }) => payments).length, 3)
    t.equal(asked.filter(path => path.startsWith('/pg/orders')).length, 3)
  },
)

t.test('a fetch ends at once if no payments are listed', async t => {
  const { asked, failed } = await fetchFailing(t, /payments$/)
  t.equal(failed, 'it answered 500 to GET payments')
  t.equal(asked.length, 1)
})

t.test(
  'a payment about which the gateway keeps failing is left out, but three end the fetch',
  async t => {
    const leftOut: LeftOut = new Map()
    const down = () => Promise.reject(new GatewayUnavailable('it answered 500 to GET orders', {}))
    for (const id of ['pay_1', 'pay_2']) t.equal(await unlessUnsaid(leftOut, id, down()), undefined)
    t.same([...leftOut.keys()], ['pay_1', 'pay_2'])
    await t.rejects(unlessUnsaid(leftOut, 'pay_3', down()), /it answered 500/)
  },
)

t.test(
  'the day of a known payment without a loan is asked again while its order fails',
  async t => {
    const item = itemOfA('pay_1', { notes: [], order_id: 'order_1' })
    const url = await serve(t, (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://gateway')
      if (pathname.startsWith('/v1/orders')) response.statusCode = 500
      response.end(JSON.stringify({ items: pathname === '/v1/payments' ? [item] : [] }))
    })
    const service = await paymentService(t, { GATEWAY_A_WEBHOOK_SECRET: SECRET })
    await sendSigned(service, capturedA({ id: 'pay_1', notes: {} }))
    await service.batch()
    const account: GatewayAccount = {
      gateway: 'gateway_a',
      lender: null,
      url: `${url}/v1`,
      key: 'key',
      secret: 'secret',
    }
    const config = readConfig(testEnv('postgres://h/d', 'http://h/api/v1', {}))
    const units = majorUnits({ '': 0.01 })
    const api = openGatewayApi(config, { account, majorUnits: units, patience: IMPATIENT })
    t.teardown(() => api.close())
    const { rows } = await sql<{ id: string }>`
    insert into core.backfill
      (id, trigger, gateway, account, window_from, window_to, fetch_from, done_until, attempt, claimed_until)
    select gen_random_uuid(), 'request', 'gateway_a', '', now(), now(), now(), now(), 1, 'infinity'
    returning id`.execute(service.db)
    const claim = { id: rows[0]?.id as string, number: 1, lender: null, fetched: 0 }
    const times = { fetchFrom: THREE_DAYS.from, doneUntil: THREE_DAYS.from, fetchTo: THREE_DAYS.to }
    const fetch = {
      db: service.db,
      api,
      account,
      gateway: gatewayOfAccount(config, account),
      lenders: config.lenders,
      claim: { ...claim, ...times },
      async readPending() {},
      onMissed() {},
    }
    const pages: ApiPage[] = []
    for (const list of api.lists(THREE_DAYS, true)) for await (const page of list) pages.push(page)
    t.match(await savePages(fetch, pages, 1), { message: 'it answered 500 to GET orders' })
    const { rows: stated } = await sql`select from core.statement`.execute(service.db)
    t.equal(stated.length, 1, 'the payment itself is not left out')
  },
)
