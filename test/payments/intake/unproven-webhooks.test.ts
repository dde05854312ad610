import { Registry } from 'prom-client'
import t from 'tap'
import { ConfigError, readConfig } from '../../../src/config/config.ts'
import { freePort } from '../../../src/embedded/free-port.ts'
import { showUnproven } from '../../../src/payments/intake/unproven-webhooks.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { startTestService, testEnv } from '../../support/service.ts'

type Ready = { status: string; webhooks?: { unproven: string[] } }

const URLS = ['postgres://u:p@127.0.0.1/d', 'http://127.0.0.1:1/api/v1'] as const
const CODES = Array.from({ length: 9 }, (_, i) => `LENDER_0${i + 1}`)
const API_B = {
  GATEWAY_B_API_URL: 'https://b.example/pg',
  GATEWAY_B_API_KEY: 'k',
  GATEWAY_B_API_SECRET: 's',
}

const config = (changes: NodeJS.ProcessEnv) => readConfig(testEnv(...URLS, changes))

function shown(changes: NodeJS.ProcessEnv) {
  const lines: string[] = []
  const registry = new Registry()
  showUnproven({ warn: line => void lines.push(line) }, registry, config(changes))
  return { lines, metrics: registry.metrics() }
}

const warnings = (changes: NodeJS.ProcessEnv) => shown(changes).lines

t.test('one line names each lender and gateway whose events nothing proves', async t => {
  const others = 'LENDER_01, LENDER_03, LENDER_04, LENDER_05, LENDER_06'
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_a: { allowedCidrs: ['10.0.0.0/8'] } },
    LENDER_07: {
      gateway_a: { validateSignature: true, secretEnv: 'SEVEN' },
      gateway_b: { validateSignature: true, secretEnv: 'SEVEN' },
    },
  })
  t.same(warnings({ LENDERS_FILE, SEVEN: 's' }), [
    `webhook events are not authenticated for gateway_a (${others}, LENDER_08, LENDER_09); gateway_b (LENDER_01, LENDER_02, ${others.slice(11)}, LENDER_08, LENDER_09): set validateSignature, allowedCidrs, confirm or "trust": "unverified" in LENDERS_FILE, or LENDERS_DEFAULT`,
  ])
})

t.test('there is no warning where something proves all events', async t => {
  const proven = { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } }
  const LENDERS_FILE = lendersFile(t, Object.fromEntries(CODES.map(code => [code, proven])))
  t.same(warnings({ LENDERS_FILE, GATEWAY_A_WEBHOOK_SECRET: 's' }), [])
  const confirmed = { gateway_b: { confirm: true } }
  t.same(
    warnings({
      LENDERS_FILE: lendersFile(t, Object.fromEntries(CODES.map(code => [code, confirmed]))),
      GATEWAY_A_WEBHOOK_SECRET: 's',
      ...API_B,
    }),
    [],
  )
})

t.test('a gauge and readyz count no lender that is taken as it is', async t => {
  const changes = { LENDERS_DEFAULT: '{"trust": "unverified"}' }
  const { metrics } = shown({})
  t.match(await metrics, /^loanops_webhooks_unproven\{gateway="gateway_b"\} 9$/m)
  t.match(await shown(changes).metrics, /^loanops_webhooks_unproven\{gateway="gateway_b"\} 0$/m)
  const service = await startTestService(t, { ROLE: 'api', WEBHOOK_TRUST: 'required', ...changes })
  t.match((await service.call('GET', '/readyz')).body, { webhooks: { unproven: [] } })
})

t.test('readyz names lenders on the operators’ port, and elsewhere the gateway alone', async t => {
  const changes = { ROLE: 'api', GATEWAY_A_WEBHOOK_SECRET: 's' }
  const readyz = async (url: string) => (await (await fetch(`${url}/readyz`)).json()) as Ready
  const open = await startTestService(t, changes)
  t.same((await readyz(open.url)).webhooks?.unproven, ['gateway_b'])
  const opsPort = await freePort(0)
  const apart = await startTestService(t, { ...changes, OPS_PORT: `${opsPort}` })
  t.same(await readyz(apart.url), { status: 'ready' })
  t.same(
    (await readyz(`http://127.0.0.1:${opsPort}`)).webhooks?.unproven,
    CODES.map(code => `${code}/gateway_b`),
  )
})

t.test('where trust is required, the start lists each pair with what to write', async t => {
  const start = (changes: NodeJS.ProcessEnv) => config({ WEBHOOK_TRUST: 'required', ...changes })
  const refusal = (changes: NodeJS.ProcessEnv) => {
    try {
      start(changes)
      return ''
    } catch (error) {
      if (error instanceof ConfigError) return error.message
      throw error
    }
  }
  const lines = refusal({}).split('\n')
  t.equal(lines.filter(line => /^LENDER_0\d\/gateway_[ab]: \{/.test(line)).length, 18)
  t.match(
    lines[1],
    'LENDER_01/gateway_a: {"LENDER_01":{"gateway_a":{"validateSignature":true,"secretEnv":"LENDER_01_GATEWAY_A_SECRET"}}}',
  )
  t.match(refusal({}), /^GATEWAY_A_WEBHOOK_SECRET holds a secret for all lenders of gateway_a\.$/m)
  for (const [, written = ''] of refusal({}).matchAll(/: (\{"LENDER.*)$/gm))
    t.doesNotThrow(
      () =>
        config({
          LENDERS_FILE: lendersFile(t, JSON.parse(written)),
          [/"secretEnv":"(\w+)"/.exec(written)?.[1] as string]: 'secret-of-a-webhook',
        }),
      'what is to be written can be',
    )
  t.match(refusal(API_B), 'LENDER_01/gateway_b: {"LENDER_01":{"gateway_b":{"confirm":true}}}')
  t.match(refusal({ ...API_B, GATEWAY_A_WEBHOOK_SECRET: 's' }), /^(?!.*gateway_a:)/s)
  const accepting = Object.fromEntries(
    CODES.map(code => [code, { gateway_b: { trust: 'unverified' } }]),
  )
  t.doesNotThrow(() =>
    start({ GATEWAY_A_WEBHOOK_SECRET: 's', LENDERS_FILE: lendersFile(t, accepting) }),
  )
})

t.test('LENDERS_DEFAULT applies to each pair that nothing proves, and to no other', async t => {
  const LENDERS_FILE = lendersFile(t, {
    LENDER_02: { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } },
    LENDER_03: { gateway_b: { validateSignature: false, posting: 'review' } },
    LENDER_04: { gateway_b: { trust: 'unverified' } },
  })
  const LENDERS_DEFAULT = '{"confirm": true, "posting": "automatic"}'
  const { lenders } = config({
    ...API_B,
    GATEWAY_A_WEBHOOK_SECRET: 's',
    LENDERS_FILE,
    LENDERS_DEFAULT,
  })
  const confirming = [...lenders.values()].filter(lender => lender.gateway_b.confirm)
  t.same(
    confirming.map(({ code }) => code),
    CODES.filter(code => !['LENDER_02', 'LENDER_04'].includes(code)),
  )
  t.notOk([...lenders.values()].some(lender => lender.gateway_a.confirm))
  t.equal(lenders.get('LENDER_03')?.gateway_b.posting, 'review', 'its own other members stay')
  for (const wrong of ['{"confirm": "yes"}', '{"confirmed": true}', '[]', 'confirm'])
    t.throws(() => config({ LENDERS_DEFAULT: wrong }), /^LENDERS_DEFAULT is invalid: .*Example: /)
})
