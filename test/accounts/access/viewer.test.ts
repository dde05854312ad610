import t from 'tap'
import { bearer, startWithAccounts } from '../../support/accounts/admin.ts'
import { exampleRequest, examplesOf } from '../../support/http/contract-examples.ts'
import { BEHIND_PROXY, elsewhere } from '../../support/http/elsewhere.ts'
import { endpointsOf } from '../../support/http/openapi-requests.ts'

const VIEWER = { username: 'vic.viewer', password: 'only for looking at it' }
/** Any role may make these, and webhooks come without an account. */
const ALLOWED = /^(login|changePassword|receive.*)$/

t.test('a viewer’s token is refused by every call that changes something', async t => {
  const { url, call, admin } = await startWithAccounts(t, {
    DOCS_ENABLED: 'true',
    ...BEHIND_PROXY,
  })
  await call('POST', '/api/account/register', { ...VIEWER, role: 'viewer' }, admin)
  const viewer = await bearer(call, VIEWER)
  const changes = endpointsOf((await call('GET', '/openapi.json')).body).filter(
    ({ method, operationId }) => method !== 'GET' && !ALLOWED.test(operationId),
  )
  t.ok(changes.length > 20)
  for (const endpoint of changes)
    for (const example of examplesOf(endpoint)) {
      const { path, init } = exampleRequest(endpoint, example)
      const headers = { ...init.headers, ...viewer, ...elsewhere() }
      const answer = await fetch(url + path, { ...init, headers })
      t.equal(answer.status, 403, `${endpoint.operationId}: ${await answer.text()}`)
      t.ok(endpoint.responses['403'], `${endpoint.operationId} says so in the contract`)
    }
})
