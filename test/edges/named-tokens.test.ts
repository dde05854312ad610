import { sql } from 'kysely'
import t from 'tap'
import { OPERATOR, startWithAccounts } from '../support/accounts/admin.ts'
import { listed } from '../support/engine/operations.ts'
import { clientData, newName } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const LOS = 'token-of-the-los-system'
const OPS = 'token:of:the-operators'
const NAMES = { INTERNAL_TOKEN: `los:${LOS},ops-2:${OPS},${TOKEN}` }
const using = (token: string) => ({ 'x-internal-token': token })

/** All tests but the one of accounts share this service. */
const service = await startTestService(t, { ROLE: 'api', ...NAMES })

t.test('an operation shows its caller and the request that was accepted', async t => {
  const { call } = service
  for (const [token, caller] of [
    [LOS, 'los'],
    [OPS, 'ops-2'],
    [TOKEN, null],
  ] as const) {
    const client = newName('C')
    const body = { status: 'CLIENT_CREATE', data: clientData(client) }
    const headers = { ...using(token), 'idempotency-key': client }
    const { body: accepted } = await call('POST', '/api/ledger/operate', body, headers)
    const item = await listed(call, client, accepted.tracking_id)
    t.match(item, { caller, request_id: /^[0-9a-f-]{36}$/ })
    await call('POST', '/api/ledger/operate', body, { ...headers, ...using(TOKEN) })
    t.same(await listed(call, client, accepted.tracking_id), item)
  }
})

t.test('an operation shows the account that submitted it, and from which address', async t => {
  const { call, operator } = await startWithAccounts(t, { ...NAMES, TRUST_PROXY: '127.0.0.1' })
  const loan = newName('L')
  const from = { ...using(LOS), 'x-forwarded-for': '2001:db8::7' }
  const body = { status: 'LOAN_DELETE', data: { external_loan_id: loan } }
  for (const [headers, actor] of [
    [{ ...from, ...operator }, OPERATOR.username],
    [from, 'internal-token'],
  ] as const) {
    const { body: accepted } = await call('POST', '/api/ledger/operate', body, headers)
    const asked = { actor, caller: 'los', address: '2001:db8::7' }
    t.match(await listed(call, loan, accepted.tracking_id), asked)
    const path = `/api/ledger/operations/${encodeURIComponent(accepted.tracking_id)}`
    t.match((await call('GET', path)).body, asked)
  }
})

t.test('a token’s name is not part of it', async t => {
  const { call } = service
  for (const token of [`los:${LOS}`, `ops-2:${OPS}`, 'los', 'los:', OPS.slice('token:'.length)]) {
    const { status } = await call('GET', '/api/ledger/operations', undefined, using(token))
    t.equal(status, 401, token)
  }
})

t.test('the audit shows the caller beside the actor', async t => {
  const { call, db } = service
  for (const token of [OPS, TOKEN])
    await call('POST', '/api/ledger/pause', { reason: 'test' }, using(token))
  const { rows } = await sql`
    select actor, caller from ops.audit where action = 'ledger.pause' order by at`.execute(db)
  matchEach(t, rows, [
    { actor: 'internal-token', caller: 'ops-2' },
    { actor: 'internal-token', caller: null },
  ])
})
