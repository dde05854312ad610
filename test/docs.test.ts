import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import t from 'tap'
import { REFUSALS } from '../src/ops/refusals.ts'
import { REFUSAL_CODES } from '../src/payments/repayment-refusal.ts'
import { startTestService, TOKEN } from './support/service.ts'
import { until } from './support/until.ts'

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
  'schemathesis --config-file test/schemathesis.toml run http://127.0.0.1:3000/openapi.json --checks all':
    'test/schemathesis-rules.py',
  'npm run migrate-portfolio': 'test/portfolio/migrate-portfolio.test.ts',
  'DATABASE_URL="$(cat .data/database-url)" npm run create-admin':
    'test/accounts/create-admin.test.ts',
}

const pages = PAGES.map(page => ({ page, text: readFileSync(resolve(ROOT, page), 'utf8') }))
const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, body = '']) => body,
  )

t.test('every call in the docs is answered without an error', async t => {
  const { url } = await startTestService(t)
  const cwd = t.testdir({ '.data': { 'internal-token': TOKEN } })
  const calls = pages
    .flatMap(({ text }) => blocks(text, 'sh'))
    .filter(body => body.includes('curl'))
  t.ok(calls.length >= 12, 'the docs show at least a dozen calls')
  for (const call of calls) {
    const command = call
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll('curl -s', 'curl -s --fail-with-body')
    await t.resolves(
      until(() => isAnswered(command, cwd), call),
      call,
    )
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
    .filter(body => !body.includes('curl'))
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
    for (const [, target = ''] of text.matchAll(/\]\(([^)#:]+\.md)(?:#[^)]*)?\)/g))
      t.ok(existsSync(resolve(ROOT, page, '..', target)), `${page} links to ${target}`)
    for (const [, file = ''] of text.matchAll(/`((?:src|test|migrations)\/[\w./-]+\.(?:ts|sql))`/g))
      t.ok(existsSync(resolve(ROOT, file)), `${page} names ${file}`)
  }
  t.ok((pages[0]?.text.split('\n').length ?? 0) <= MAX_README_LINES)
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
  for (const code of [...codes, ...REFUSAL_CODES]) t.match(guide(), `| \`${code}\` | `, code)
  t.end()
})

const guide = () => readFileSync(resolve(ROOT, 'docs/integrating.md'), 'utf8')

function sources(): string {
  return readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.startsWith('sandbox/'))
    .map(file => readFileSync(resolve(ROOT, 'src', file), 'utf8'))
    .join('\n')
}

/** @returns false while the result is not there yet, because the batch of an earlier call may still be running */
async function isAnswered(command: string, cwd: string): Promise<boolean> {
  try {
    await promisify(execFile)('bash', ['-c', command], { cwd })
    return true
  } catch (error) {
    if (String((error as { stdout?: string }).stdout).includes('"NOT_FOUND"')) return false
    throw error
  }
}
