import { readFileSync } from 'node:fs'
import type { TSchema } from '@sinclair/typebox'
import t from 'tap'
import { ACTS } from '../src/config/acts.ts'
import { readClientSettings, readConfig } from '../src/config/config.ts'
import { Settings } from '../src/config/settings/settings.ts'
import { warnOfWideProxies } from '../src/http/connections/warn-of-wide-proxies.ts'
import { callbackSecret } from './support/callbacks/callback-secret.ts'
import { lendersFile } from './support/config/lenders-file.ts'
import { matchEach } from './support/match-each.ts'
import { testEnv } from './support/service.ts'

const SETTINGS: Record<string, TSchema> = Settings.properties

const env = (changes: NodeJS.ProcessEnv = {}) =>
  testEnv('postgres://u:p@127.0.0.1:5432/d', 'http://127.0.0.1:1/fineract-provider/api/v1', {
    DOCS_ENABLED: undefined,
    REPAYMENT_CRON: undefined,
    ...changes,
  })

/** The lines with which startup would fail. */
function complaints(changes: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env(changes))
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

t.test('an unset setting has its documented default', async t => {
  const config = readConfig(env())
  t.match(config, {
    ROLE: 'all',
    LEDGER_CONCURRENCY: 4,
    LEDGER_TIMEZONE: 'Asia/Kolkata',
    REPAYMENT_CRON: '*/30 * * * *',
    OPERATION_DEADLINE_SECONDS: 86_400,
    DOCS_ENABLED: true,
  })
})

t.test(
  'all wrong settings are reported together, each with its name, what is wrong and an example',
  async t => {
    const lines = complaints({ PORT: 'eighty', LEDGER_URL: '', INTERNAL_TOKEN: 'short' })
    t.equal(lines.length, 3)
    t.match(lines.join('\n'), /^PORT is invalid.*0 to 65535.*Example: PORT=3000$/m)
    t.match(lines.join('\n'), /^LEDGER_URL is missing.*Example: LEDGER_URL=https:/m)
    t.match(lines.join('\n'), /^INTERNAL_TOKEN is invalid.*at least 16 characters/m)
  },
)

t.test('errors in the lenders file and the administrator are reported with the others', async t => {
  const LENDERS_FILE = lendersFile(t, '{\n  "LENDER_02": {\n    "product": x\n  }\n}')
  const lines = complaints({ PORT: 'x', ADMIN_USERNAME: 'admin', LENDERS_FILE })
  t.equal(lines.length, 3)
  t.match(lines.join('\n'), /^PORT is invalid/m)
  t.match(lines.join('\n'), /^ADMIN_PASSWORD is missing.*Example: ADMIN_PASSWORD=/m)
  t.match(lines.join('\n'), /^LENDERS_FILE is invalid.*Example of its content: /m)
})

t.test('an administrator’s name and password are set together, or not at all', async t => {
  matchEach(t, complaints({ ADMIN_PASSWORD: 'a pass phrase for tests' }), [
    /^ADMIN_USERNAME is missing.*Example: ADMIN_USERNAME=admin$/,
  ])
  matchEach(t, complaints({ ADMIN_USERNAME: 'admin' }), [/^ADMIN_PASSWORD is missing/])
  t.same(complaints({ ADMIN_USERNAME: '', ADMIN_PASSWORD: '' }), [])
})

t.test('migrate-portfolio calls the address that the service listens on', async t => {
  const urlWith = (HOST: string) => readClientSettings({ HOST, PORT: '3001' }).url
  t.equal(urlWith('127.0.0.1'), 'http://127.0.0.1:3001')
  t.equal(urlWith('::1'), 'http://[::1]:3001')
})

t.test('blanks are not a secret, and no password is longer than login accepts', async t => {
  const lines = complaints({
    INTERNAL_TOKEN: `a-token-of-enough-letters,${' '.repeat(20)}`,
    JWT_SECRET: ' '.repeat(40),
    ADMIN_USERNAME: 'admin',
    ADMIN_PASSWORD: 'x'.repeat(257),
  })
  t.same(
    lines.map(line => line.split(' ', 1)[0]),
    ['INTERNAL_TOKEN', 'JWT_SECRET', 'ADMIN_PASSWORD'],
  )
})

t.test('blanks and line breaks at the ends of a setting are not part of it', async t => {
  const secret = 'a-secret-of-32-characters-for-tests'
  const { LEDGER_PASSWORD, LEDGER_TENANT, JWT_SECRET } = readConfig(
    env({ LEDGER_PASSWORD: ' password\n', LEDGER_TENANT: 'default ', JWT_SECRET: `${secret}\r\n` }),
  )
  t.same([LEDGER_PASSWORD, LEDGER_TENANT], ['password', 'default'])
  t.same(JWT_SECRET, [secret])
})

t.test('an invisible character stops the start, with the setting’s name alone', async t => {
  const names = [
    'LEDGER_TENANT',
    'LEDGER_PASSWORD',
    'INTERNAL_TOKEN',
    'JWT_SECRET',
    'GATEWAY_A_WEBHOOK_SECRET',
  ]
  for (const unseen of ['\u200b', '\n', '\u0007', '\ufeff', '\u2028'])
    for (const name of names) {
      const lines = complaints({ [name]: `copied-from-a-page${unseen}with-a-secret-in-it` })
      t.equal(lines.length, 1, name)
      t.match(lines[0], `${name} contains a line break or another invisible character`)
      t.notMatch(lines[0], 'copied-from-a-page')
    }
  const LENDERS_FILE = lendersFile(
    t,
    JSON.stringify({
      LENDER_02: { gateway_b: { apiKeyEnv: 'OWN_KEY', apiSecretEnv: 'OWN_SECRET' } },
    }),
  )
  for (const OWN_KEY of ['ke\u200by', 'kéy'])
    t.match(
      complaints({
        LENDERS_FILE,
        OWN_KEY,
        OWN_SECRET: 's',
        GATEWAY_B_API_URL: 'https://gateway-b.example.com/pg',
      }),
      [/OWN_KEY contains/],
    )
})

t.test('the database’s host may be given in the query alone, as for Cloud SQL', async t => {
  for (const [url, shown] of [
    ['postgresql://a:1-secret@/loanops?host=/cloudsql/p:r:i', 'a@/cloudsql/p:r:i/loanops'],
    ['postgresql:///loanops?host=db.example&user=a', 'a@db.example/loanops'],
  ])
    t.match(readConfig(env({ DATABASE_URL: url })).shown, { DATABASE_URL: shown })
})

t.test('a # in the database’s password is refused before its rest is taken for a host', async t => {
  const lines = complaints({ DATABASE_URL: 'postgres://u:p@ss#word@127.0.0.1/loanops' })
  matchEach(t, lines, [/^DATABASE_URL is invalid: .*percent-encoded/])
  t.notMatch(lines.join(), 'p@ss')
  const twoHosts = complaints({ DATABASE_URL: 'postgres://u:p@db-1:5432,db-2:5432/loanops' })
  matchEach(t, twoHosts, [/^DATABASE_URL is invalid: .*one host/], 'unlike in libpq')
  const withSlash = complaints({ DATABASE_URL: 'postgres://u:p@/word@127.0.0.1/loanops' })
  matchEach(t, withSlash, [/^DATABASE_URL is invalid/], 'nor is the rest after a slash')
})

t.test('a setting that becomes a header has only characters that headers may have', async t => {
  const api = { GATEWAY_B_API_URL: 'https://gateway-b.example.com/pg', GATEWAY_B_API_SECRET: 's' }
  t.match(complaints({ ...api, GATEWAY_B_API_KEY: 'kéy' }), [/^GATEWAY_B_API_KEY is invalid/])
  t.match(complaints({ LEDGER_TENANT: 'ténant' }), [/^LEDGER_TENANT is invalid/])
})

t.test('a token’s name does not count towards its length', async t => {
  for (const INTERNAL_TOKEN of ['ops-desk-1:only-15-letters', 'los:a-token-for-a-test,ops:short'])
    matchEach(t, complaints({ INTERNAL_TOKEN }), [/^INTERNAL_TOKEN is invalid/], INTERNAL_TOKEN)
  const { INTERNAL_TOKEN } = readConfig(
    env({
      INTERNAL_TOKEN: 'los:a-token-for-a-test, A:token-of-a-test, a23456789-123456789_1:long-text',
    }),
  )
  t.same(INTERNAL_TOKEN, [
    { caller: 'los', role: null, token: 'a-token-for-a-test' },
    { caller: null, role: null, token: 'A:token-of-a-test' },
    { caller: null, role: null, token: 'a23456789-123456789_1:long-text' },
  ])
})

t.test('a token’s role is one that exists, and each token has one', async t => {
  const TOKEN = 'a-token-for-a-test'
  for (const wrong of [
    'los/admin:',
    'los/Submit:',
    'LOS/submit:',
    'los /submit:',
    '/submit:',
    'los/:',
  ])
    for (const INTERNAL_TOKEN of [wrong + TOKEN, `los:${TOKEN},${wrong}the-other-token`])
      matchEach(t, complaints({ INTERNAL_TOKEN }), [/^INTERNAL_TOKEN is invalid.*submit/], wrong)
  const twice = { INTERNAL_TOKEN: `los/submit:${TOKEN},ops:${TOKEN}` }
  t.match(complaints(twice), [/^INTERNAL_TOKEN is invalid: it gives one token two roles/])
  const given = `los/submit:${TOKEN},los/read:ab/cd:${TOKEN},${TOKEN}/unnamed`
  t.same(readConfig(env({ INTERNAL_TOKEN: given })).INTERNAL_TOKEN, [
    { caller: 'los', role: 'submit', token: TOKEN },
    { caller: 'los', role: 'read', token: `ab/cd:${TOKEN}` },
    { caller: null, role: null, token: `${TOKEN}/unnamed` },
  ])
})

t.test('only digits are a number, and nothing else is converted to one', async t => {
  for (const OPERATION_DEADLINE_SECONDS of ['1e5', '86400.5', '0x15180', 'true', '-1', '+5'])
    matchEach(
      t,
      complaints({ OPERATION_DEADLINE_SECONDS }),
      [/^OPERATION_DEADLINE_SECONDS is invalid/],
      OPERATION_DEADLINE_SECONDS,
    )
})

t.test('a REPAYMENT_CRON with an impossible time is refused', async t => {
  for (const REPAYMENT_CRON of ['0 0 31 2 *', '0 0 * 0 *', '10-5 * * * *', 'H * * * *', '@daily'])
    matchEach(t, complaints({ REPAYMENT_CRON }), [/^REPAYMENT_CRON is invalid/], REPAYMENT_CRON)
  for (const REPAYMENT_CRON of ['*/30 * * * *', '5/10 9-17 1,15 1-12 0-7', '0 9 * * MON-FRI'])
    t.same(complaints({ REPAYMENT_CRON }), [], REPAYMENT_CRON)
})

t.test('a time zone must be Area/City or UTC, as PostgreSQL reads others differently', async t => {
  for (const LEDGER_TIMEZONE of ['IST', '+05:30', 'EST5EDT', 'Asia/Nowhere', '/', 'UTC+5'])
    matchEach(
      t,
      complaints({ LEDGER_TIMEZONE }),
      [
        /^LEDGER_TIMEZONE is invalid: .*Area\/City, or UTC.*Example: LEDGER_TIMEZONE=Asia\/Kolkata$/,
      ],
      LEDGER_TIMEZONE,
    )
  for (const LEDGER_TIMEZONE of ['UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'America/New_York'])
    t.same(complaints({ LEDGER_TIMEZONE }), [], LEDGER_TIMEZONE)
})

t.test('an empty setting counts as unset', async t => {
  t.equal(readConfig(env({ LEDGER_CONCURRENCY: '' })).LEDGER_CONCURRENCY, 4)
  t.equal(
    readConfig(env({ GATEWAY_A_WEBHOOK_SECRET: '' })).lenders.get('LENDER_02')?.gateway_a
      .validateSignature,
    false,
  )
})

t.test('TRUST_PROXY is a list of addresses, never just true', async t => {
  for (const TRUST_PROXY of [
    'true',
    '0.0.0.0/0',
    '10.0.0.0/8, ::/0',
    '0.0.0.0/1,128.0.0.0/1',
    '128.0.0.0/2, 0.0.0.0/1, 192.0.0.0/3, 224.0.0.0/3',
    '::ffff:0.0.0.0/96',
    '::/1',
    '2000::/4,3000::/4',
    ',',
  ])
    matchEach(t, complaints({ TRUST_PROXY }), [/^TRUST_PROXY is invalid/], TRUST_PROXY)
  for (const TRUST_PROXY of [
    '10.0.0.0/8, 127.0.0.1',
    '0.0.0.0/1, 192.0.0.0/2',
    'fc00::/7,fe80::1%eth0',
  ])
    t.same(
      readConfig(env({ TRUST_PROXY })).TRUST_PROXY,
      TRUST_PROXY.split(',').map(one => one.trim()),
    )
})

t.test('a network in TRUST_PROXY that holds more than proxies is warned of', async t => {
  const lines: string[] = []
  const warn = (line: string) => void lines.push(line)
  warnOfWideProxies({ warn }, ['10.0.0.5', '10.0.1.0/24', 'fd00::/64', '::1'])
  t.same(lines, [])
  warnOfWideProxies({ warn }, ['10.0.0.5', '10.0.0.0/8', 'fd00::/32'])
  matchEach(t, lines, [/^TRUST_PROXY trusts every caller from 10\.0\.0\.0\/8, fd00::\/32:/])
})

t.test('allowedCidrs that hold everybody stop the start, because they prove nothing', async t => {
  for (const allowedCidrs of [
    ['0.0.0.0/0'],
    ['0.0.0.0/1', '10.0.0.0/8', '128.0.0.0/1'],
    ['::/0'],
  ]) {
    const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { allowedCidrs } } })
    matchEach(t, complaints({ LENDERS_FILE }), [
      /\/LENDER_02\/gateway_a: allowedCidrs includes every address/,
    ])
  }
})

t.test('a secret that our messages print, or one repeated character, stops the start', async t => {
  const both = { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: 'a pass phrase for tests' }
  const rest = {
    GATEWAY_A_API_URL: 'https://a.example/v1',
    GATEWAY_A_API_KEY: 'key',
    GATEWAY_A_API_SECRET: 'of-a',
    GATEWAY_B_API_URL: 'https://b.example/pg',
    GATEWAY_B_API_KEY: 'key',
    GATEWAY_B_API_SECRET: 'of-b',
    CALLBACK_URL: 'https://los.example',
    CALLBACK_SECRET: callbackSecret(),
    ...both,
  }
  const zeros = `whsec_${Buffer.alloc(24).toString('base64')}`
  for (const [name, repeated] of [
    ['DATABASE_URL', 'postgres://loanops:aaaa@localhost/loanops'],
    ['INTERNAL_TOKEN', `los:${'a'.repeat(32)}`],
    ['JWT_SECRET', 'a'.repeat(32)],
    ['ADMIN_PASSWORD', 'é'.repeat(12)],
    ['LEDGER_PASSWORD', '00'],
    ['GATEWAY_A_WEBHOOK_SECRET', 'a-real-secret, xxxx'],
    ['GATEWAY_A_API_SECRET', 'ss'],
    ['GATEWAY_B_API_SECRET', 'ss'],
    ['CALLBACK_SECRET', `${callbackSecret()},${zeros}`],
  ] as const) {
    matchEach(
      t,
      complaints({ ...rest, [name]: SETTINGS[name]?.examples[0] }),
      [new RegExp(`^${name} holds the secret of LoanOps’s own example`)],
      name,
    )
    matchEach(
      t,
      complaints({ ...rest, [name]: repeated }),
      [new RegExp(`^${name} holds a secret that is one character repeated`)],
      name,
    )
  }
  const own = { gateway_a: { secretEnv: 'OWN', apiKeyEnv: 'KEY', apiSecretEnv: 'API' } }
  const LENDERS_FILE = lendersFile(t, { LENDER_02: own })
  const named = { ...rest, LENDERS_FILE, OWN: 'own', KEY: 'k', API: 's' }
  t.same(complaints(named), [])
  matchEach(t, complaints({ ...named, OWN: 'webhook-secret' }), [
    /OWN holds the secret of LoanOps’s own/,
  ])
  matchEach(t, complaints({ ...named, API: 'xxxx' }), [/API holds a secret that is one character/])
})

t.test('every setting that is named as a secret is checked as one', async t => {
  const named = Object.keys(SETTINGS).filter(name => /_(SECRET|PASSWORD|TOKEN)$/.test(name))
  t.ok(named.length > 5)
  for (const name of named) t.ok(SETTINGS[name]?.secret, name)
})

t.test('secrets that are the same, or easy to read or to guess, are one warning each', async t => {
  const warnings = (changes: NodeJS.ProcessEnv) => readConfig(env(changes)).warnings
  t.same(warnings({}), [])
  const secret = 'one-secret-for-everything-of-32-characters'
  matchEach(
    t,
    warnings({ JWT_SECRET: `other-${secret},${secret}`, INTERNAL_TOKEN: `los:${secret}` }),
    [/^INTERNAL_TOKEN and JWT_SECRET hold the same secret/],
  )
  matchEach(t, warnings({ ADMIN_USERNAME: 'Administrator', ADMIN_PASSWORD: 'administrator' }), [
    /^ADMIN_PASSWORD is the name in ADMIN_USERNAME/,
  ])
  const own = '{"LENDER_02": {"gateway_b": {"secretEnv": "OF_LENDER_02"}}}'
  const secrets = { GATEWAY_A_WEBHOOK_SECRET: 'one-of-12-ch,1234', OF_LENDER_02: 'eleven-char' }
  matchEach(t, warnings({ ...secrets, LENDERS_FILE: lendersFile(t, own) }), [
    /^GATEWAY_A_WEBHOOK_SECRET holds a secret of fewer than 12 characters/,
    /^OF_LENDER_02 holds a secret of fewer than 12 characters/,
  ])
  t.same(warnings({ GATEWAY_A_WEBHOOK_SECRET: 'one-of-12-ch' }), [])
  const plain = {
    LEDGER_URL: 'http://ledger.example:8443/fineract-provider/api/v1',
    GATEWAY_A_API_URL: 'http://a.example/v1',
    GATEWAY_A_API_KEY: 'key',
    GATEWAY_A_API_SECRET: 'of-a',
    GATEWAY_B_API_URL: 'http://127.0.0.1:1/pg',
    GATEWAY_B_API_KEY: 'key',
    GATEWAY_B_API_SECRET: 'of-b',
    CALLBACK_URL: 'http://los.example/callbacks',
    CALLBACK_SECRET: callbackSecret(),
    CALLBACK_ALLOW_HTTP: 'true',
  }
  const database = 'postgres://loanops@db.example/loanops'
  for (const url of [
    database,
    `${database}?sslmode=disable`,
    `${database}?sslmode=no-verify`,
    'postgresql:///loanops?host=db.example',
  ])
    matchEach(t, warnings({ DATABASE_URL: url }), [
      /^DATABASE_URL does not have the server's certificate checked: .*db\.example/,
    ])
  matchEach(t, warnings({ DATABASE_URL: `${database}?sslrootcert=/none.pem` }), [
    /^DATABASE_URL cannot be used: .*none\.pem/,
  ])
  for (const url of [
    `${database}?sslmode=verify-full`,
    `${database}?ssl=true`,
    'postgresql://[::1]/loanops',
    'postgresql:///loanops?host=/run/postgresql',
    'postgresql:///loanops',
  ])
    t.same(warnings({ DATABASE_URL: url }), [], url)
  process.env.PGSSLMODE = 'verify-full'
  t.teardown(() => delete process.env.PGSSLMODE)
  t.same(warnings({ DATABASE_URL: database }), [])
  matchEach(t, warnings(plain), [
    /^LEDGER_URL uses plain HTTP: anyone between us and ledger\.example can read the credentials/,
    /^GATEWAY_A_API_URL uses plain HTTP/,
    /^CALLBACK_URL uses plain HTTP: .* can read the callbacks; use HTTPS$/,
  ])
  t.notMatch(warnings(plain).join(), /of-a|of-b/)
})

t.test('quotation marks that nothing took away are named, and not what they hold', t => {
  const { warnings } = readConfig(env({ JWT_SECRET: `"a-secret-of-32-characters-in-quotes"` }))
  t.same(warnings, [
    'JWT_SECRET begins and ends with a quotation mark, which is taken as part of it',
  ])
  t.end()
})

t.test('a lenders file may begin with the mark that editors on Windows write', async t => {
  const LENDERS_FILE = lendersFile(t, '\uFEFF{"LENDER_77": {}}')
  t.ok(readConfig(env({ LENDERS_FILE })).lenders.has('LENDER_77'))
})

t.test('a member that appears twice is refused, because only the last one would count', t => {
  const refused = (text: string) => complaints({ LENDERS_FILE: lendersFile(t, text) })
  const signed = '"LENDER_02": {"gateway_a": {"validateSignature": true}}'
  const twice = [
    /^LENDERS_FILE is invalid: LENDER_02 appears twice, and only the last one would count/,
  ]
  matchEach(t, refused(`{${signed}, "LENDER_03": {}, "LENDER_02": {}}`), twice)
  matchEach(t, refused(`{${signed}, "LENDER\\u005f02": {"product": "X"}}`), twice)
  const inside = [/gateway_a appears twice, and only the last one would count/]
  matchEach(
    t,
    refused('{"LENDER_02": {"gateway_a": {}, "gateway_b": {}, "gateway_a": {}}}'),
    inside,
  )
  const LENDERS_DEFAULT = '{"posting": "review", "posting": "automatic"}'
  matchEach(t, complaints({ LENDERS_DEFAULT }), [/^LENDERS_DEFAULT is invalid/])
  t.end()
})

t.test('names and texts that recur in other places of the lenders file are no repetition', t => {
  const own = '{"product": ["gateway_a", "a\\": ", "}{"], "gateway_a": {}, "gateway_b": {}}'
  const LENDERS_FILE = lendersFile(t, `{"LENDER_02": ${own}, "LENDER_03": {"gateway_a": {}}}`)
  t.doesNotThrow(() => readConfig(env({ LENDERS_FILE })))
  t.end()
})

t.test('a LEDGER_CA_FILE that holds no certificate stops the start', async t => {
  const start = (LEDGER_CA_FILE: string) => readConfig(env({ LEDGER_CA_FILE }))
  t.doesNotThrow(() => start('test/support/loopback.pem'))
  for (const file of ['package.json', 'missing.pem'])
    t.throws(() => start(file), { message: /^LEDGER_CA_FILE is invalid: a readable PEM file/ })
})

t.test('a variable that looks like a setting and is none is named at start', async t => {
  const warnings = (changes: NodeJS.ProcessEnv) => readConfig(env(changes)).warnings
  matchEach(t, warnings({ LEDGER_TIMEZON: 'UTC', TRUST_PROXYS: '10.0.0.5', LEDGER_RETRIES: '3' }), [
    /^LEDGER_TIMEZON is not a setting: did you mean LEDGER_TIMEZONE\?$/,
    /^TRUST_PROXYS is not a setting: did you mean TRUST_PROXY\?$/,
    /^LEDGER_RETRIES is not a setting, and LENDERS_FILE does not name it$/,
  ])
  const named = { secretEnv: 'GATEWAY_A_SECRET_2' }
  t.same(
    warnings({
      LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_a: named } }),
      GATEWAY_A_SECRET_2: 'a-secret-for-tests',
      LEDGER_SERVICE_HOST: '10.0.0.7',
      LEDGER_PORT_8443_TCP_ADDR: '10.0.0.7',
      HOSTNAME: 'api-1',
      APP_PORT: '80',
      OTEL_SERVICE_NAME: 'loanops',
    }),
    [],
    'what LENDERS_FILE names, and what Kubernetes and other programs set',
  )
})

t.test('a user or a password in LEDGER_URL stops the start, and is not repeated', async t => {
  const lines = complaints({ LEDGER_URL: 'https://mifos:pass-1@ledger.example/api/v1' })
  matchEach(t, lines, [/^LEDGER_URL is invalid: .*without a user or password/])
  t.notMatch(lines[0], 'pass-1')
})

t.test('OPS_PORT is another port than PORT', async t => {
  t.match(complaints({ PORT: '3000', OPS_PORT: '3000' }), [/^OPS_PORT is invalid/])
  t.match(complaints({ PORT: undefined, OPS_PORT: '3000' }), [/^OPS_PORT is invalid/])
  t.same(complaints({ PORT: '3000', OPS_PORT: '9090' }), [])
})

t.test('a ledger URL that does not end in /api/v1 stops the start', async t => {
  matchEach(t, complaints({ LEDGER_URL: 'https://ledger:8443/fineract-provider' }), [
    /^LEDGER_URL is invalid/,
  ])
})

t.test('the nine lenders always exist, each with the product of its own name', async t => {
  const { lenders } = readConfig(env())
  t.equal(lenders.size, 9)
  t.equal(lenders.get('LENDER_09')?.product, 'LENDER_09')
})

t.test('a lenders file changes lenders and adds to them', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { product: 'Two', gateway_a: { accounts: ['acc_1'], allowedCidrs: ['10.0.0.0/8'] } },
    LENDER_77: {},
  })
  const { lenders } = readConfig(env({ LENDERS_FILE }))
  t.equal(lenders.size, 10)
  t.match(lenders.get('LENDER_02'), { product: 'Two', gateway_a: { accounts: ['acc_1'] } })
})

t.test('a lender says whether its product’s terms are copied, and to portfolios too', async t => {
  const termsWith = (member: object) =>
    readConfig(env({ LENDERS_FILE: lendersFile(t, { LENDER_02: member }) })).lenders.get(
      'LENDER_02',
    )
  t.match(termsWith({}), { terms: { copied: true, toPortfolio: false } })
  t.match(termsWith({ productTerms: 'request' }), { terms: { copied: false } })
  t.match(termsWith({ copyToPortfolio: true }), { terms: { copied: true, toPortfolio: true } })
  const contradiction = { LENDER_02: { productTerms: 'request', copyToPortfolio: true } }
  matchEach(t, complaints({ LENDERS_FILE: lendersFile(t, contradiction) }), [
    /\/LENDER_02: copyToPortfolio requires productTerms/,
  ])
})

t.test('lenders that share a product but not its checks stop the start, with both names', t => {
  const complaintsOf = (two: object, three: object) =>
    complaints({
      LENDERS_FILE: lendersFile(t, {
        LENDER_02: { product: 'Shared', ...two },
        LENDER_03: { product: 'Shared', ...three },
      }),
      SECRET_02: 'two',
      SECRET_03: 'three',
    })
  const named = [/^LENDERS_FILE is invalid: .*LENDER_02 and LENDER_03 share the product Shared/]
  const signed = { validateSignature: true, secretEnv: 'SECRET_02' }
  matchEach(t, complaintsOf({ gateway_a: signed }, {}), named)
  const other = { gateway_a: { ...signed, secretEnv: 'SECRET_03' } }
  matchEach(t, complaintsOf({ gateway_a: signed }, other), named)
  matchEach(t, complaintsOf({}, { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } }), named)
  matchEach(t, complaintsOf({}, { gateway_b: { posting: 'review' } }), named)
  matchEach(t, complaintsOf({}, { gateway_b: { reversals: 'automatic' } }), named)
  const alike = { gateway_a: signed, gateway_b: { allowedCidrs: ['10.0.0.0/8', '::1'] } }
  const reordered = { gateway_a: signed, gateway_b: { allowedCidrs: ['::1', '10.0.0.0/8'] } }
  t.same(complaintsOf(alike, { ...reordered, gateway_a: { ...signed, accounts: ['acc_3'] } }), [])
  const taken = lendersFile(t, { MINE: { product: 'LENDER_02', gateway_b: reordered.gateway_b } })
  matchEach(t, complaints({ LENDERS_FILE: taken }), [/LENDER_02 and MINE/])
  t.end()
})

t.test('a lender’s payments are posted automatically, or after review', async t => {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_b: { posting: 'review' } } })
  t.match(readConfig(env({ LENDERS_FILE })).lenders.get('LENDER_02'), {
    gateway_a: { posting: 'automatic' },
    gateway_b: { posting: 'review' },
  })
  const other = lendersFile(t, { LENDER_02: { gateway_b: { posting: 'manual' } } })
  matchEach(t, complaints({ LENDERS_FILE: other }), [/\/LENDER_02\/gateway_b\/posting/])
})

t.test('a lender whose events the gateway confirms stops a start without credentials', async t => {
  const file = (gateway_b: object, env: NodeJS.ProcessEnv = {}) =>
    complaints({ LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_b } }), ...env })
  const url = { GATEWAY_B_API_URL: 'https://b.example/pg' }
  const missing = [/^GATEWAY_B_API_KEY is missing/, /^GATEWAY_B_API_SECRET is missing/]
  matchEach(t, file({ confirm: true }), [/^GATEWAY_B_API_URL is missing/, ...missing])
  matchEach(t, file({ confirm: true }, url), missing)
  const own = { confirm: true, apiKeyEnv: 'TWO_KEY', apiSecretEnv: 'TWO_SECRET' }
  t.same(file(own, { ...url, TWO_KEY: 'k', TWO_SECRET: 's' }), [])
  t.same(file({ confirm: false }), [])
  matchEach(t, file({ confirm: 'yes' }), [/^LENDERS_FILE.*\/LENDER_02\/gateway_b\/confirm: /])
})

t.test('a lenders file with an unknown member stops the start and names it', async t => {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { secret: 'x' } } })
  matchEach(t, complaints({ LENDERS_FILE }), [
    /^LENDERS_FILE is invalid: \/LENDER_02\/gateway_a\/secret/,
  ])
})

t.test('a lenders file with an invalid network, or several in a text, stops the start', async t => {
  for (const network of ['10.0.0.0/8, 11.0.0.0/8', ' 10.0.0.0/8', '10.0.0.1,10.0.0.2', '10/8']) {
    const LENDERS_FILE = lendersFile(t, { LENDER_02: { gateway_a: { allowedCidrs: [network] } } })
    matchEach(
      t,
      complaints({ LENDERS_FILE }),
      [/^LENDERS_FILE is invalid: \/LENDER_02\/gateway_a\/allowedCidrs\/0/],
      network,
    )
  }
})

t.test('a lender that validates signatures without a secret stops the start', async t => {
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { validateSignature: true } } })
  matchEach(t, complaints({ LENDERS_FILE }), [/LENDER_07\/gateway_b.*secret/])
  const own = lendersFile(t, {
    LENDER_07: { gateway_b: { validateSignature: true, secretEnv: 'SEVEN' } },
  })
  matchEach(t, complaints({ LENDERS_FILE: own }), [/SEVEN is not set/])
  t.same(complaints({ LENDERS_FILE: own, SEVEN: 'a-secret' }), [])
})

t.test('a webhook secret of only blanks and commas is invalid, not unset', async t => {
  const LENDERS_FILE = lendersFile(t, { LENDER_07: { gateway_b: { secretEnv: 'SEVEN' } } })
  for (const blank of [' ', ',', ' , ,']) {
    matchEach(
      t,
      complaints({ GATEWAY_A_WEBHOOK_SECRET: blank }),
      [/^GATEWAY_A_WEBHOOK_SECRET is invalid.*Example: GATEWAY_A_WEBHOOK_SECRET=/],
      `GATEWAY_A_WEBHOOK_SECRET="${blank}"`,
    )
    matchEach(
      t,
      complaints({ LENDERS_FILE, SEVEN: blank }),
      [/^LENDERS_FILE is invalid: SEVEN contains no secret/],
      `SEVEN="${blank}"`,
    )
  }
  t.same(complaints({ LENDERS_FILE, SEVEN: '' }), [], 'an empty one counts as unset')
})

t.test('gateway A is validated if, and only if, its secret is set', async t => {
  const set = readConfig(env({ GATEWAY_A_WEBHOOK_SECRET: 'new, old' })).lenders.get('LENDER_05')
  t.match(set, { gateway_a: { validateSignature: true, secrets: ['new', 'old'] } })
  t.match(set, { gateway_b: { validateSignature: false, secrets: [] } })
})

t.test('.env.example lists each setting with its default and description', async t => {
  const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  for (const [name, schema] of Object.entries(SETTINGS)) {
    // What a production should have, although it is not the default.
    const [advice, value] =
      name === 'WEBHOOK_TRUST'
        ? ['# By default warn; in production it should be required.\n', 'required']
        : ['', schema.default ?? '']
    t.match(example, `# ${schema.description}\n${advice}${name}=${value}\n`, name)
  }
})

t.test('callbacks need a secret; plain HTTP is for this machine or where allowed', async t => {
  const CALLBACK_SECRET = callbackSecret()
  const los = { CALLBACK_URL: 'https://los.example.com/callbacks' }
  t.same(complaints({ ...los, CALLBACK_SECRET }), [])
  t.match(complaints(los), [/^CALLBACK_SECRET is missing/])
  for (const wrong of ['secret', 'whsec_YWJj', CALLBACK_SECRET.slice(6), `${CALLBACK_SECRET},`])
    t.match(complaints({ ...los, CALLBACK_SECRET: wrong }), [/^CALLBACK_SECRET is invalid/])
  const plain = { CALLBACK_URL: 'http://los.example.com/callbacks', CALLBACK_SECRET }
  t.match(complaints(plain), [/^CALLBACK_URL is invalid: plain HTTP/])
  for (const allowed of ['true', 'TRUE', '1'])
    t.same(complaints({ ...plain, CALLBACK_ALLOW_HTTP: allowed }), [], allowed)
  t.equal(complaints({ ...plain, CALLBACK_ALLOW_HTTP: '0' }).length, 1)
  for (const host of ['localhost:9', '127.0.0.1', '[::1]:9'])
    t.same(complaints({ CALLBACK_URL: `http://${host}/`, CALLBACK_SECRET }), [])
  for (const CALLBACK_EVENTS of ['operation.ended', ','])
    t.match(complaints({ ...los, CALLBACK_SECRET, CALLBACK_EVENTS }), [
      /^CALLBACK_EVENTS is invalid/,
    ])
})

t.test('the acts of persons are a list of acts that exist', async t => {
  const acts = (PERSON_REQUIRED: string) => readConfig(env({ PERSON_REQUIRED })).PERSON_REQUIRED
  t.same(acts(''), [])
  t.same(acts(ACTS.join()), ACTS)
  t.same(acts('payment.post, bulk,'), ['payment.post', 'bulk'])
  for (const PERSON_REQUIRED of ['payment.pay', 'Bulk', 'bulk;payment.post', ','])
    t.match(complaints({ PERSON_REQUIRED }), [/^PERSON_REQUIRED is invalid: the acts/])
})

t.test('single sign-on needs its settings, HTTPS and roles that exist', async t => {
  const OIDC_ROLES = '{"desk": "operator"}'
  const set = { OIDC_CLIENT_ID: 'loanops', OIDC_CLIENT_SECRET: 'a-secret-of-tests', OIDC_ROLES }
  const OIDC_ISSUER = 'https://login.lender.example'
  t.same(complaints({ ...set, OIDC_ISSUER, PASSWORD_LOGIN: 'false' }), [])
  t.match(complaints({ OIDC_ISSUER }), [
    /^OIDC_CLIENT_ID is missing.*Example: OIDC_CLIENT_ID=/,
    /^OIDC_CLIENT_SECRET is missing/,
    /^OIDC_ROLES is missing/,
  ])
  for (const off of ['false', 'False', '0'])
    t.match(complaints({ PASSWORD_LOGIN: off }), [/^PASSWORD_LOGIN is invalid.*OIDC_ISSUER/], off)
  t.match(complaints({ ...set, OIDC_ISSUER: 'http://login.lender.example' }), [
    /^OIDC_ISSUER is invalid: plain HTTP/,
  ])
  t.same(complaints({ ...set, OIDC_ISSUER: 'http://127.0.0.1:8080' }), [])
  for (const user of ['me', 'me:a-secret', 'me:a%2fsecret', 'me:a/secret'])
    t.match(
      complaints({ ...set, OIDC_ISSUER: `https://${user}@login.lender.example` }),
      [/^OIDC_ISSUER is invalid(?!.*secret@).*without a user/],
      user,
    )
  for (const wrong of ['desk', '{}', '[]', '{"desk": "owner"}', '{"desk": ["admin"]}'])
    t.match(complaints({ ...set, OIDC_ISSUER, OIDC_ROLES: wrong }), [/^OIDC_ROLES is invalid/])
})

t.test('a CALLBACK_URL with a password stops the start, and no error repeats it', async t => {
  const CALLBACK_SECRET = callbackSecret()
  for (const user of ['asha:pass-1', 'asha', ':pass-1']) {
    const CALLBACK_URL = `https://${user}@los.example.com/callbacks`
    const [line, ...others] = complaints({ CALLBACK_URL, CALLBACK_SECRET })
    t.match(line, /^CALLBACK_URL is invalid: .*without a user or password/)
    t.notMatch(line, user)
    t.same(others, [])
  }
})

t.test('compose.yaml passes on every setting that is not generated at its first start', async t => {
  const compose = readFileSync(new URL('../compose.yaml', import.meta.url), 'utf8')
  // The last one is for npm start: the container `sandbox` has a port of its own.
  for (const name of Object.keys(SETTINGS)) {
    if (!['ROLE', 'HOST', 'PORT', 'SANDBOX_PORT'].includes(name)) t.ok(compose.includes(name), name)
  }
})

t.test('compose.yaml considers PostgreSQL ready only when others can reach it', async t => {
  const compose = readFileSync(new URL('../compose.yaml', import.meta.url), 'utf8')
  t.match(compose, /'pg_isready', '-h', '127\.0\.0\.1'/)
})

t.test('a gateway’s API is set as a whole, or not at all', async t => {
  const [url, key, secret] = ['https://a.example.com/v1', 'k', 's']
  const all = { GATEWAY_A_API_URL: url, GATEWAY_A_API_KEY: key, GATEWAY_A_API_SECRET: secret }
  t.same(readConfig(env()).gatewayAccounts, [])
  t.same(readConfig(env(all)).gatewayAccounts, [
    { gateway: 'gateway_a', lender: null, url, key, secret },
  ])
  matchEach(t, complaints({ GATEWAY_A_API_URL: url }), [
    /^GATEWAY_A_API_KEY is missing/,
    /^GATEWAY_A_API_SECRET is missing/,
  ])
  matchEach(t, complaints({ GATEWAY_B_API_KEY: key }), [
    /^GATEWAY_B_API_URL is missing.*Example: GATEWAY_B_API_URL=https:.*\/pg$/,
    /^GATEWAY_B_API_SECRET is missing/,
  ])
  matchEach(t, complaints({ ...all, GATEWAY_A_API_URL: 'https://a.example.com' }), [
    /^GATEWAY_A_API_URL is invalid/,
  ])
})

t.test('a gateway’s API needs only its URL if each lender has its own key and secret', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_b: { apiKeyEnv: 'L2_KEY', apiSecretEnv: 'L2_SECRET' } },
  })
  const own = { LENDERS_FILE, L2_KEY: 'k2', L2_SECRET: 's2' }
  const url = 'https://b.example.com/pg'
  t.same(readConfig(env({ ...own, GATEWAY_B_API_URL: url })).gatewayAccounts, [
    { gateway: 'gateway_b', lender: 'LENDER_02', url, key: 'k2', secret: 's2' },
  ])
  matchEach(t, complaints(own), [/^GATEWAY_B_API_URL is missing/])
  matchEach(t, complaints({ ...own, GATEWAY_B_API_URL: url, L2_SECRET: '' }), [
    /^LENDERS_FILE is invalid: \/LENDER_02\/gateway_b: L2_SECRET is not set/,
  ])
})
