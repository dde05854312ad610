import t, { type Test } from 'tap'
import { type Browse, startWithConsole } from '../support/console/console.ts'
import { fillConsole } from '../support/console/console-data.ts'
import { consoleRoutes } from '../support/console/console-routes.ts'
import { BEHIND_PROXY, elsewhere } from '../support/http/elsewhere.ts'

type Route = {
  method: 'GET' | 'POST'
  /** The URL as the page adds it. */
  url: string
  path: string
  query: Record<string, { enum?: string[]; pattern?: string }>
  fields: string[]
}

const UUID = '019a0000-0000-7000-8000-000000000000'
const LONG = 'a'.repeat(5_000)
const ODD_VALUES = [
  LONG,
  'a\u0000b',
  '\ud800',
  '',
  'constructor',
  '__proto__',
  '0001-01-01T00:00',
  '9999-12-31T23:59',
]
/** Cursors of each list's form and of others, as a forger would write them after the name of the list. */
const CURSORS = [
  '0',
  '999999999999999999',
  '9999999999999999999',
  '-1',
  '1.5',
  UUID,
  `rest.${UUID}`,
  `suspense.${UUID}`,
  `nothing.${UUID}`,
  '41.gateway_a',
  '00.gateway_a',
  'ff.gateway_a',
  "1' or '1'='1",
  '%00',
  LONG,
]

/** How the list's own cursors begin. */
const beginningIn = ({ cursor }: Route['query']) =>
  /^\^(\w+~)/.exec(cursor?.pattern ?? '')?.[1] ?? ''

t.test('the console’s routes survive any input', async t => {
  const routes = await allRoutes()
  const service = await startWithConsole(t, BEHIND_PROXY)
  await fillConsole(service.url)
  const viewer = fromElsewhere(service.viewer)
  const operator = fromElsewhere(service.operator)
  const admin = fromElsewhere(service.admin)
  const read = routes.filter(({ method }) => method === 'GET')
  const write = routes.filter(({ method }) => method === 'POST')
  const isForAdmins = ({ path }: Route) => path.startsWith('/console/accounts')

  t.test('every route that reads answers each role that may see it', async t => {
    for (const route of read)
      for (const browse of isForAdmins(route) ? [admin] : [viewer, operator, admin])
        t.match(String((await browse(route.path)).status), /^(200|303|400|404)$/, route.path)
  })

  t.test('every route refuses or ignores any value of each filter, however long', async t => {
    for (const { path, query } of read)
      for (const name of Object.keys(query))
        for (const value of [LONG, 'a\u0000b', '२०२६-०१-०१'])
          await isAnswered(t, admin, `${path}?${new URLSearchParams({ [name]: value })}`)
  })

  t.test('every list refuses or ignores any cursor', async t => {
    const lists = read.filter(({ query }) => 'cursor' in query)
    t.ok(lists.length > 0)
    for (const { path, query } of lists)
      for (const cursor of CURSORS.map(one => beginningIn(query) + one)) {
        await isAnswered(t, admin, `${path}?${new URLSearchParams({ cursor })}`)
        if ('from' in query)
          await isAnswered(
            t,
            admin,
            `${path}?${new URLSearchParams({ cursor, from: '2026-01-01' })}`,
          )
      }
  })

  t.test('every form refuses or ignores any value of each field', async t => {
    for (const { path, fields } of write)
      for (const value of ODD_VALUES) {
        await isAnswered(t, operator, path, Object.fromEntries(fields.map(name => [name, value])))
        for (const name of fields) await isAnswered(t, operator, path, { [name]: value })
      }
  })

  t.test('every page and form refuses or ignores any text in its path', async t => {
    for (const { url, method } of routes)
      for (const [param] of url.matchAll(/:\w+/g))
        for (const text of ['%00', 'a%00b', '%F0%9F%98%80', 'constructor', '%2e%2e%2f']) {
          const path = pathOf(url.replace(param, text))
          await isAnswered(t, admin, path, method === 'POST' ? {} : undefined)
        }
  })
})

type Visit = (path: string, form?: Record<string, string>) => ReturnType<Browse>

const fromElsewhere =
  (browse: Browse): Visit =>
  (path, form) =>
    browse(path, form, elsewhere())

async function isAnswered(t: Test, browse: Visit, path: string, form?: Record<string, string>) {
  const { status } = await browse(path, form)
  t.ok(status < 500, `${status} ${path.slice(0, 100)}`)
}

/** The routes as the pages add them, each parameter filled in. */
async function allRoutes(): Promise<Route[]> {
  return (await consoleRoutes()).map(({ method, url, schema }) => {
    const { properties = {} } = (schema?.querystring ?? {}) as { properties?: Route['query'] }
    const body = (schema?.body ?? {}) as { properties?: object }
    return {
      method: method as Route['method'],
      url,
      path: pathOf(url),
      query: properties,
      fields: Object.keys(body.properties ?? {}),
    }
  })
}

function pathOf(url: string): string {
  return url
    .replace(':tracking_id', `CLIENT_CREATE%7C${UUID}`)
    .replace(':gateway_payment_id', 'pay_nobody')
    .replace(':gateway', 'gateway_a')
    .replace(':username', 'nobody')
    .replace(/:\w+/, UUID)
}
