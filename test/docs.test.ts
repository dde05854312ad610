import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { BUCKETS } from '../src/books/reconciliation/day-record.ts'
import { ACTS } from '../src/config/acts.ts'
import { CALLBACK_TYPES } from '../src/config/settings/callback-settings.ts'
import { welcome } from '../src/embedded/welcome.ts'
import { DIFFERS } from '../src/engine/refusal.ts'
import { operationCatalogue } from '../src/operations/catalogue.ts'
import { WAITING_REASONS } from '../src/operations/reading/operation-filter.ts'
import { REFUSALS } from '../src/ops/docs/refusals.ts'
import { PAYMENT_STATES } from '../src/payments/payment-record.ts'
import { REFERENCE_KINDS } from '../src/payments/references/reference-record.ts'
import { PASSING_REASONS } from '../src/payments/repayment/repayment-refusal.ts'
import { OWN_REFUSALS, REASONS } from '../src/payments/suspense-reasons.ts'
import { kinds } from '../src/portfolio/kinds/kinds.ts'
import { startSandboxGateways } from '../src/sandbox/gateways/gateway-server.ts'
import { gatewaySettings } from '../src/sandbox/gateways/gateway-settings.ts'
import { openShell, shows } from './support/pasted-blocks.ts'
import { startTestService, TOKEN } from './support/service.ts'

const ROOT = resolve(import.meta.dirname, '..')
const PAGES = [
  'README.md',
  ...readdirSync(resolve(ROOT, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
]
const MAX_README_LINES = 160
/** Commands that start or change a whole installation, and the tests that run them. */
const RUN_ELSEWHERE: Record<string, string> = {
  'npm ci && npm start': 'test/embedded/start.test.ts',
  'npm ci && npm run demo': 'test/demo.test.ts',
  'npm ci && npm run chaos': 'test/chaos/run.ts',
  'npm ci && npm run bench': 'test/bench/run.ts',
  'npm ci && npm run soak': 'test/soak/run.ts',
  'npm run sandbox': 'test/sandbox/gateway-command.test.ts',
  'npx openapi-typescript http://127.0.0.1:3000/openapi.json -o loanops.ts':
    'test/contract/client.test.ts',
  'npm init -y && npm pkg set type=module && npm install openapi-fetch@0.17.0 standardwebhooks@1.1.1 openapi-typescript@7.13.0 typescript@5.9.3':
    'test/contract/client.test.ts',
  'LOANOPS_URL=http://127.0.0.1:3000 LOANOPS_TOKEN=… CALLBACK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw PORT=3300 node client.ts':
    'test/contract/client.test.ts',
  'schemathesis --config-file test/schemathesis.toml run http://127.0.0.1:3000/openapi.json --checks all':
    'test/schemathesis-rules.py',
  'DATABASE_URL="$(cat .data/database-url)" npm run create-admin':
    'test/accounts/create-admin.test.ts',
  'npm run verify-audit': 'test/accounts/audit-chain/audit-chain.test.ts',
}

/** A block of commands, and the block right after it, which shows what they print. */
const EXAMPLE = /^```sh\n(.*?)^```\n(?:```(?:json|csv|text)\n(.*?)^```)?/gms
/** Calls of the running service; the functions and variables for them; or a command of a page's own. */
const isRunHere = (block: string) =>
  /curl|^npm run migrate-portfolio|\b(outcome|payment|batch|api) /m.test(block)
const MAX_SHOWN = 3_000

const pages = PAGES.map(page => ({ page, text: readFileSync(resolve(ROOT, page), 'utf8') }))
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, body = '']) => body,
  )

t.test('every example in the docs ends as its page says', async t => {
  const cwd = t.testdir({
    '.data': { 'internal-token': TOKEN },
    'lenders.json': blocks(pageOf('docs/testing.md'), 'json')[0] ?? '',
  })
  const gateways = await startSandboxGateways({ port: 0 })
  t.teardown(() => gateways.close())
  const service = await startTestService(t, {
    ...gatewaySettings(gateways),
    LENDERS_FILE: resolve(cwd, 'lenders.json'),
    LENDER_03_SECRET: 'a-secret-for-tests',
  })
  const shell = openShell(t, { cwd, env: { PATH: process.env.PATH, LOANOPS_URL: service.url } })
  const asHere = (commands: string) =>
    commands
      .replaceAll('http://127.0.0.1:3000', service.url)
      .replaceAll('http://127.0.0.1:3200', new URL(service.ledger.url).origin)
      .replaceAll('http://127.0.0.1:3201', new URL(gateways.urlA).origin)
      .replaceAll(
        'npm run migrate-portfolio --',
        `node ${resolve(ROOT, 'src/main.ts')} migrate-portfolio`,
      )
  const printed = welcome({ env: {}, folder: '', controls: {} }, service.url, service.config)
  for (const [command] of printed.matchAll(/^ {2}curl .*?}'$/gms)) await shell(command, '')
  const examples = inReadingOrder().flatMap(({ page, text }) =>
    [...text.matchAll(EXAMPLE)].map(([, block = '', promise]) => ({ page, block, promise })),
  )
  t.ok(examples.length >= 40, 'the docs show at least forty examples')
  for (const { page, block, promise } of examples) {
    if (!isRunHere(block)) continue
    const output = await shell(asHere(block), promise ?? '')
    const isSilent = promise === undefined && output === ''
    const isKept = isSilent || (promise !== undefined && shows(output, promise))
    // The examples after it may need what it did not do.
    if (!t.ok(isKept, `${page}: ${block}`, { output: output.slice(0, MAX_SHOWN) })) break
  }
})

t.test('every query in the docs runs', async t => {
  const { db } = await startTestService(t)
  await sql`select raw.make_store('LENDER_02', 'gateway_a')`.execute(db)
  await sql`select raw.register('lender_02_gateway_a')`.execute(db)
  const inTables = pages.flatMap(({ text }) =>
    [...text.matchAll(/^\|.*?\| `(select .*?)`/gm)].map(([, query = '']) =>
      query.replaceAll('\\|', '|'),
    ),
  )
  const queries = [...inTables, ...pages.flatMap(({ text }) => blocks(text, 'sql'))]
  t.ok(queries.length >= 20, 'the docs show at least twenty queries')
  for (const query of queries) await t.resolves(sql.raw(query).execute(db), query)
})

t.test('every other command in the docs is run by its own test', async t => {
  const lines = pages
    .flatMap(({ text }) => blocks(text, 'sh'))
    .filter(body => !isRunHere(body))
    .flatMap(body => body.trim().split('\n'))
  const { scripts } = JSON.parse(readFileSync(resolve(ROOT, 'package.json'), 'utf8'))
  for (const line of lines) {
    const [command] = line.split(/ -- | +#/)
    t.ok(existsSync(resolve(ROOT, RUN_ELSEWHERE[command as string] ?? 'nowhere')), line)
    const [, script = 'start'] = /npm run ([a-z-]+)/.exec(line) ?? []
    t.ok(scripts[script], `npm run ${script} exists`)
  }
})

t.test('every link between the docs has a target, and the README stays short', async t => {
  for (const { page, text } of pages) {
    for (const [, target = '', anchor] of text.matchAll(/\]\(([^)#:]*\.md)?(?:#([^)]*))?\)/g)) {
      const file = target === '' ? resolve(ROOT, page) : resolve(ROOT, page, '..', target)
      t.ok(existsSync(file), `${page} links to ${target}`)
      const isThere = anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
      t.ok(isThere, `${page} links to ${target}#${anchor}`)
    }
    for (const [, file = ''] of text.matchAll(/`((?:src|test|migrations)\/[\w./-]+\.(?:ts|sql))`/g))
      t.ok(existsSync(resolve(ROOT, file)), `${page} names ${file}`)
  }
  t.ok((pages[0]?.text.split('\n').length ?? 0) <= MAX_README_LINES)
})

t.test('each row of a table in the docs has as many cells as its header', async t => {
  for (const { page, text } of pages)
    for (const [table] of text.replaceAll(/^```.*?^```/gms, '').matchAll(/(?:^\|.*\n)+/gm)) {
      const [cells, ...others] = table.trim().split('\n').map(cellsIn)
      for (const one of others) t.equal(one, cells, `${page}: ${table.slice(0, 80)}`)
    }
})

t.test('the guide and the contract give each error code the status that it is thrown with', t => {
  const thrown = [
    ...sources().matchAll(/createError(?:<\[string\]>)?\(\s*'([A-Z_]+)',.*?,\s*(\d{3}),?\s*\)/gs),
  ]
  t.ok(thrown.length > 12)
  const explained = new Map(
    [...guide().matchAll(/^\| `([A-Z_]+)` \| (\d{3})/gm)].map(([, code = '', status]) => [
      code,
      Number(status),
    ]),
  )
  for (const [, code = '', status] of thrown) {
    t.equal(explained.get(code), Number(status), `${code} in the guide`)
    t.equal(REFUSALS[code]?.status, Number(status), `${code} in the contract`)
  }
  const inContract = Object.entries(REFUSALS).map(([code, { status }]) => [code, status])
  t.same([...explained].sort(), inContract.sort(), 'neither has a code that the other lacks')
  t.end()
})

t.test('the guide explains every code that a refusal of ours may have', t => {
  const codes = [...sources().matchAll(/refusal\(\s*[^,]+,\s*'(loanops\.[^']+)'/g)].map(
    ([, code = '']) => code,
  )
  t.ok(codes.length > 7)
  const named = [...OWN_REFUSALS, ...PASSING_REASONS].map(reason => `loanops.${reason}`)
  for (const code of [...codes, ...named, DIFFERS]) t.match(guide(), `| \`${code}\` | `, code)
  t.end()
})

t.test('the guide lists the members of every operation, and marks the required ones', t => {
  for (const { name, schema } of operationCatalogue(new Map()).values()) {
    const [row = ''] = new RegExp(`^\\| \`${name}\` \\| .*$`, 'm').exec(guide()) ?? []
    for (const member of Object.keys(schema.properties)) {
      const isRequired = schema.required?.includes(member) ?? false
      t.ok(isListed(row, member, isRequired), `${name} has ${member}`)
    }
  }
  t.end()
})

t.test('each page names all values of the lists that it explains', t => {
  // A payment with this reason is posted: payments.md explains it.
  const inSuspense = REASONS.filter(reason => reason !== 'overpaid')
  const lists = {
    'docs/integrating.md': CALLBACK_TYPES,
    'docs/operating.md': WAITING_REASONS,
    'docs/payments.md': [...PAYMENT_STATES, ...REFERENCE_KINDS],
    'docs/reconciliation.md': BUCKETS,
    'docs/security.md': ACTS,
    'docs/suspense.md': inSuspense,
  }
  for (const [page, values] of Object.entries(lists))
    for (const value of values) t.ok(pageOf(page).includes(`\`${value}\``), `${page}: ${value}`)
  t.end()
})

t.test('portfolio.md lists the columns of every kind of file, and marks the required ones', t => {
  for (const { type, columns } of kinds) {
    const start = new RegExp(`^\\*\\*${type}\\*\\*:.*?\\n\\n`, 'ims')
    const [list = ''] = start.exec(pageOf('docs/portfolio.md')) ?? []
    for (const { name, isRequired } of columns)
      t.ok(isListed(list, name, isRequired), `${type} have ${name}`)
  }
  t.end()
})

function isListed(list: string, name: string, isRequired: boolean): boolean {
  const found = [...list.matchAll(new RegExp(`\\b${name}\\b\`?(\\\\\\*)?`, 'g'))]
  return found.length > 0 && found.some(([, mark]) => mark !== undefined) === isRequired
}

const guide = () => readFileSync(resolve(ROOT, 'docs/integrating.md'), 'utf8')

function sources(): string {
  return readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.startsWith('sandbox/'))
    .map(file => readFileSync(resolve(ROOT, 'src', file), 'utf8'))
    .join('\n')
}

function pageOf(name: string): string {
  return pages.find(({ page }) => page === name)?.text ?? ''
}

/** The pages as the table in the README lists them, so that an example may follow one of an earlier page. */
function inReadingOrder() {
  const listed = [...pageOf('README.md').matchAll(/^\| \[.*?\]\((docs\/.*?)\)/gm)]
  return ['README.md', ...listed.map(([, page = '']) => page)].map(page => ({
    page,
    text: pageOf(page),
  }))
}

/** The anchors that GitHub makes from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

const cellsIn = (row: string) => row.match(/(?<!\\)\|/g)?.length
