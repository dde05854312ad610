import { sql } from 'kysely'
import t from 'tap'
import { startWithAccounts } from '../support/accounts/admin.ts'
import { endpointsOf } from '../support/http/openapi-requests.ts'
import { TOKEN } from '../support/service.ts'

const BROKEN: Record<string, string | Uint8Array> = {
  nothing: '',
  'half an object': '{"x":',
  'a list': '[]',
  null: 'null',
  'a string': '"x"',
  'a number': '1',
  'an unknown field': '{"unheard_of":1}',
  'a duplicate name': '{"unheard_of":1,"unheard_of":1}',
  'a prototype': '{"__proto__":{"role":"admin"}}',
  'a constructor': '{"constructor":{"prototype":{"role":"admin"}}}',
  'a NUL': '{"unheard_of":"\\u0000"}',
  'a lone surrogate': '{"unheard_of":"\\ud800"}',
  'invalid UTF-8': Uint8Array.of(0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d),
  'a number beyond every double': '{"unheard_of":1e400}',
  'ten thousand levels': `${'{"x":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'SQL and a line break': '{"unheard_of":"\'; drop table loanops.operation; --\\n"}',
}
const PARAMETERS: Record<string, string> = {
  tracking_id: 'LOAN_CREATE%7C019a0000-0000-7000-8000-000000000000',
  gateway: 'gateway_a',
  gateway_payment_id: 'pay_1',
  kind: 'order',
  value: 'order_1',
  username: 'asha.rao',
  id: '019a0000-0000-7000-8000-000000000000',
}

const UNREAD = ['a list', 'a string', 'an unknown field']

t.test(
  'every call answers an invalid body with 400 and stores nothing, whatever is wrong with it',
  async t => {
    const { url, call, db, admin } = await startWithAccounts(t, { DOCS_ENABLED: 'true' })
    const stored = async () =>
      (
        await sql`
        select (select count(*) from loanops.operation) as operations, (select count(*) from loanops.account) as accounts,
               (select count(*) from loanops.audit) as audit, (select count(*) from loanops.migration) as migrations,
               (select count(*) from ops.reference) as "references", (select count(*) from loanops.ledger_pause) as pauses`.execute(
          db,
        )
      ).rows
    const before = await stored()
    const openapi = (await call('GET', '/openapi.json')).body
    const endpoints = endpointsOf(openapi).filter(
      ({ path, method, requestBody }) =>
        method !== 'GET' &&
        !requestBody?.content['multipart/form-data'] &&
        !path.includes('/webhooks/'),
    )
    t.equal(endpoints.length, 33)
    for (const { method, path, requestBody } of endpoints) {
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => PARAMETERS[name] ?? 'x')
      for (const what of requestBody ? Object.keys(BROKEN) : UNREAD) {
        const body = BROKEN[what] ?? ''
        const headers = { 'x-internal-token': TOKEN, 'content-type': 'application/json', ...admin }
        const response = await fetch(url + filled, { method, headers, body: Buffer.from(body) })
        const problem = (await response.json()) as { code: string; detail: string }
        t.same([response.status, problem.code], [400, 'INVALID_PAYLOAD'], `${path}: ${what}`)
        t.notMatch(problem.detail, /Expected/, `${path} is refused in plain English`)
      }
    }
    t.same(await stored(), before)
    t.equal((await call('GET', '/readyz')).status, 200)
  },
)
