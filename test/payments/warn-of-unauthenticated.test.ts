import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { warnOfUnauthenticated } from '../../src/payments/warn-of-unauthenticated.ts'
import { lendersFile } from '../support/lenders-file.ts'
import { testEnv } from '../support/service.ts'

function warnings(changes: NodeJS.ProcessEnv): string[] {
  const lines: string[] = []
  warnOfUnauthenticated(
    { warn: line => void lines.push(line) },
    readConfig(testEnv('postgres://u:p@127.0.0.1/d', 'http://127.0.0.1:1/api/v1', changes)),
  )
  return lines
}

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
    `Webhook events are not authenticated for gateway_a (${others}, LENDER_08, LENDER_09); gateway_b (LENDER_01, LENDER_02, ${others.slice(11)}, LENDER_08, LENDER_09): set validateSignature, allowedCidrs or confirm in LENDERS_FILE`,
  ])
})

t.test('there is no warning where something proves all events', async t => {
  const proven = { gateway_b: { allowedCidrs: ['10.0.0.0/8'] } }
  const codes = Array.from({ length: 9 }, (_, i) => `LENDER_0${i + 1}`)
  const LENDERS_FILE = lendersFile(t, Object.fromEntries(codes.map(code => [code, proven])))
  t.same(warnings({ LENDERS_FILE, GATEWAY_A_WEBHOOK_SECRET: 's' }), [])
  const confirmed = { gateway_b: { confirm: true } }
  t.same(
    warnings({
      LENDERS_FILE: lendersFile(t, Object.fromEntries(codes.map(code => [code, confirmed]))),
      GATEWAY_A_WEBHOOK_SECRET: 's',
      GATEWAY_B_API_URL: 'https://b.example/pg',
      GATEWAY_B_API_KEY: 'k',
      GATEWAY_B_API_SECRET: 's',
    }),
    [],
  )
})
