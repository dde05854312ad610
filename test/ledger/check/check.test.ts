import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { readLedgerSettings } from '../../../src/config/ledger-settings.ts'
import type { Lender } from '../../../src/config/lenders.ts'
import { checkLedger } from '../../../src/ledger/check/check-ledger.ts'
import type { Finding } from '../../../src/ledger/check/finding.ts'
import { neededBy } from '../../../src/ledger/check/set-up/permissions.ts'
import { operationCatalogue } from '../../../src/operations/catalogue.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { containerBody, startProxy } from '../../support/ledger/proxy.ts'
import { MAIN } from '../../support/main.ts'
import { NO_LEDGER, testEnv } from '../../support/service.ts'

/** Days never agree between these two. */
const FAR_EAST = 'Pacific/Kiritimati'
const FAR_WEST = 'Pacific/Pago_Pago'
/** No read shows them. */
const NEVER_READ = ['time_zone', 'idempotency', 'version']

async function sandbox(t: Test, ...flags: string[]): Promise<string> {
  const { url, close } = await startSandbox({ port: 0, flags })
  t.teardown(close)
  return url
}

const needed = neededBy(operationCatalogue(new Map()).values())

async function checked(url: string, changes: NodeJS.ProcessEnv = {}): Promise<Finding[]> {
  const { settings, lenders } = readLedgerSettings(testEnv('', url, changes))
  return checkLedger({ settings, lenders: [...lenders.values()], needed })
}

/** The findings in these states, each as its check, the lender that it concerns, and its state. */
const named = (findings: Finding[], ...states: Finding['state'][]) =>
  findings
    .filter(({ state }) => states.includes(state))
    .map(({ check, lender, state }) => [check, ...(lender ? [lender] : []), state].join(' '))

t.test('on a ledger that is set up as it should be, nothing breaks or differs', async t => {
  const findings = await checked(await sandbox(t))
  t.same(named(findings, 'breaks', 'differs'), [])
  t.same(
    named(findings, 'unknown'),
    NEVER_READ.map(check => `${check} unknown`),
  )
})

const FLAGS: Record<string, string[]> = {
  'no-payment-type': ['payment_type breaks'],
  'no-product=LENDER_03': ['product LENDER_03 breaks'],
  'office=branch': ['office differs'],
  'business-date=2025-01-01': ['business_date differs'],
  'maker-checker=DISBURSE_LOAN': ['maker_checker differs'],
  'block-closed': ['closed_loans_blocked differs'],
  'over-applied=LENDER_02': ['product_over_applied LENDER_02 differs'],
  'recalculation=LENDER_02': ['product_interest_recalculation LENDER_02 differs'],
  'charges=LENDER_02': ['product_charges LENDER_02 differs'],
  'no-permission=ACTIVATE_CLIENT': ['permissions breaks'],
  // Only writes show these.
  'lost-external-ids': [],
  'pending-409': [],
  'over-disbursal=disburse.amount.must.be.less.than.approved.principal': [],
  'decimals=0': Array.from({ length: 9 }, (_, i) => `currency LENDER_0${i + 1} breaks`),
}
for (const [flag, expected] of Object.entries(FLAGS))
  t.test(`the change that ${flag} makes at the ledger is found, and nothing else`, async t => {
    const findings = await checked(await sandbox(t, flag))
    t.same(named(findings, 'breaks', 'differs'), expected)
    t.ok(findings.every(({ state, remedy }) => (remedy === null) === (state === 'ok')))
  })

t.test('a product with another currency, or with more decimals, breaks nothing', async t => {
  const proxy = await startProxy(t)
  proxy.target = await sandbox(t)
  const file = lendersFile(t, { LENDER_02: {} })
  for (const [code, remedy] of [
    ['KWD', /remedy: Unless the lender’s payments are in KWD/],
    ['INR', /remedy: Change the currency of the product at the ledger: INR with 2 decimals/],
  ] as const) {
    const change = (product: { currency: object }) =>
      Object.assign(product.currency, { code, decimalPlaces: 3 })
    proxy.interferences = [
      { of: '/loanproducts', on: 'reads', alters: ({ body }) => [body].flat().forEach(change) },
    ]
    const checked = await command(proxy.url, [], { LENDERS_FILE: file })
    t.equal(checked.code, 0, code)
    t.match(checked.printed, `currency (LENDER_02): LENDER_02: ${code} with 3 decimals`)
    t.match(checked.printed, remedy)
  }
})

t.test('another time zone breaks while it is another day there', async t => {
  const findings = await checked(await sandbox(t, `timezone=${FAR_WEST}`), {
    LEDGER_TIMEZONE: FAR_EAST,
  })
  t.same(named(findings, 'breaks', 'differs'), ['time_zone breaks'])
})

t.test('the permission that the flag of maker-checker names is in the finding', async t => {
  const findings = await checked(await sandbox(t, 'maker-checker=DISBURSE_LOAN'))
  const { found } = findings.find(({ check }) => check === 'maker_checker') as Finding
  t.match(found, /DISBURSE_LOAN/)
  t.notMatch(found, /APPROVE_LOAN/)
})

t.test('maker-checker holds nothing back if the user may check everything itself', async t => {
  const proxy = await startProxy(t)
  proxy.target = await sandbox(t, 'maker-checker=DISBURSE_LOAN')
  const alters = ({ body }: { body: { permissions: string[] } }) =>
    void body.permissions.push('CHECKER_SUPER_USER')
  proxy.interferences = [{ of: '/authentication', on: 'writes', alters }]
  t.same(named(await checked(proxy.url), 'breaks', 'differs'), [])
})

t.test('a call that does not get through is named by its setting; the rest is unknown', async t => {
  const url = await sandbox(t)
  const wrong: [check: string, setting: RegExp, changes: NodeJS.ProcessEnv][] = [
    ['reachable', /LEDGER_URL/, { LEDGER_URL: NO_LEDGER }],
    ['api_path', /LEDGER_URL/, { LEDGER_URL: url.replace('fineract-provider', 'fineract') }],
    ['tenant', /LEDGER_TENANT/, { LEDGER_TENANT: 'nobody' }],
    ['credentials', /LEDGER_PASSWORD/, { LEDGER_PASSWORD: 'wrong' }],
  ]
  for (const [check, setting, changes] of wrong) {
    const findings = await checked(url, changes)
    t.same(named(findings, 'breaks', 'differs'), [`${check} breaks`])
    t.match(findings.find(({ state }) => state === 'breaks')?.remedy, setting)
    const after = findings.slice(findings.findIndex(({ state }) => state === 'breaks') + 1)
    t.ok(after.length > 10)
    t.ok(after.every(({ state }) => state === 'unknown'))
  }
})

t.test(
  'a ledger that wants a second factor breaks the credentials, and names the way out',
  async t => {
    const proxy = await startProxy(t)
    proxy.target = await sandbox(t)
    proxy.interferences = [{ of: '/', on: 'reads', status: 403, body: containerBody(403) }]
    const findings = await checked(proxy.url)
    t.same(named(findings, 'breaks', 'differs'), ['credentials breaks'])
    t.match(findings.find(({ state }) => state === 'breaks')?.remedy, /BYPASS_TWOFACTOR/)
  },
)

t.test(
  'a page with any status but those of a wrong address means that a proxy answers for the ledger',
  async t => {
    let status = 200
    const page = createServer((_, response) => response.writeHead(status).end('<h1>no</h1>'))
    await once(page.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => page.close())
    const { port } = page.address() as AddressInfo
    const breaking = async (answered: number) => {
      status = answered
      const findings = await checked(`http://127.0.0.1:${port}/api/v1`)
      return named(findings, 'breaks', 'differs')
    }
    for (const one of [403, 408, 429, 499, 503, 509, 522, 530])
      t.same(await breaking(one), ['reachable breaks'], `${one}`)
    for (const one of [200, 301, 400, 404, 405, 415])
      t.same(await breaking(one), ['api_path breaks'], `${one}`)
  },
)

t.test('a setting that the user may not read is unknown, never ok', async t => {
  const findings = await checked(await sandbox(t, 'no-permission=READ_CONFIGURATION'))
  t.same(named(findings, 'unknown'), [
    'password_expiry unknown',
    'time_zone unknown',
    'business_date unknown',
    'maker_checker unknown',
    'closed_loans_blocked unknown',
    'idempotency unknown',
    'version unknown',
  ])
})

t.test('only a read that the ledger itself refuses is left to its user’s permissions', async t => {
  const { url, controlUrl, close } = await startSandbox({
    port: 0,
    flags: ['no-permission=READ_CONFIGURATION'],
  })
  t.teardown(close)
  const rules = [{ kind: 'error', status: 502, match: { path: '^/loanproducts' } }]
  await fetch(`${controlUrl}/faults`, { method: 'PUT', body: JSON.stringify({ rules }) })
  const findings = await checked(url)
  const remedyOf = (check: string) => findings.find(one => one.check === check)?.remedy
  t.match(remedyOf('closed_loans_blocked'), /^Let LEDGER_USERNAME read it/)
  t.match(remedyOf('product'), /let whatever is in front of the ledger pass this read/)
})

async function command(url: string, args: string[] = [], changes: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [MAIN, 'check-ledger', ...args], {
    env: { ...testEnv('', url, changes), DATABASE_URL: '', PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { printed, code }
}

t.test('the command needs no database, and ends with 0, 1 or 2', async t => {
  const [good, broken, away] = await Promise.all([
    command(await sandbox(t, 'office=branch'), ['--json']),
    command(await sandbox(t, 'no-payment-type')),
    command(NO_LEDGER),
  ])
  t.equal(good.code, 0, 'what only differs is no failure')
  t.match(JSON.parse(good.printed), { checked_at: /Z$/, version: null, findings: [] })
  t.equal(broken.code, 1)
  t.match(
    broken.printed,
    /breaks +payment_type: .*\n +expected: .*\n +remedy: .*LEDGER_PAYMENT_TYPE/,
  )
  t.equal(away.code, 2)
})

t.test('for people, the command says once what is alike, and last what breaks', async t => {
  const { printed } = await command(await sandbox(t, 'no-product=LENDER_03'))
  const lines = printed.split('\n')
  t.equal(lines.filter(line => line.startsWith('ok       currency')).length, 1)
  const unknown = lines.filter(line => line.includes('the ledger lacks the product'))
  t.match(unknown, [/^unknown {2}currency, product_limits, .* \(LENDER_03\)/])
  t.match(lines.slice(-6), [/^breaks +product \(LENDER_03\)/, /expected/, /remedy/, '', /^1 break/])
})

t.test('the lenders in LENDERS_FILE are checked, and all with --all-lenders', async t => {
  const file = lendersFile(t, { LENDER_02: {} })
  const url = await sandbox(t, 'no-product=LENDER_03')
  const run = (...args: string[]) => command(url, args, { LENDERS_FILE: file })
  const [own, all] = await Promise.all([run(), run('--all-lenders')])
  t.equal(own.code, 0)
  t.equal(all.code, 1)
})

t.test('a setting that a ledger leaves out of its answers is unknown, never ok', async t => {
  const answers: Record<string, unknown> = {
    '/api/v1/paymenttypes': [{ name: 'LoanOps' }],
    '/api/v1/loanproducts': [{ id: 1, name: 'LENDER_01' }],
    '/api/v1/configurations': { globalConfiguration: [] },
    '/api/v1/authentication': { userId: 1, officeId: 1, permissions: ['ALL_FUNCTIONS'] },
  }
  const server = createServer(({ url = '' }, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[url] ?? {})),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { settings, lenders } = readLedgerSettings(testEnv('', `http://127.0.0.1:${port}/api/v1`))
  const lender = lenders.get('LENDER_01') as Lender
  const findings = await checkLedger({ settings, lenders: [lender], needed })
  t.same(named(findings, 'breaks', 'differs'), [])
  t.same(named(findings, 'ok'), [
    ...['reachable', 'api_path', 'tenant', 'credentials'].map(check => `${check} ok`),
    'permissions ok',
    'payment_type ok',
    'product LENDER_01 ok',
  ])
})
