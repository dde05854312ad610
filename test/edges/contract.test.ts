import fc from 'fast-check'
import t from 'tap'
import { startWithAccounts } from '../support/accounts/admin.ts'
import { BEHIND_PROXY, elsewhere } from '../support/http/elsewhere.ts'
import { endpointsOf, type Request, requestsTo } from '../support/http/openapi-requests.ts'
import { TOKEN } from '../support/service.ts'

const CASES = Number(process.env.FUZZ_CASES ?? 250)

/** The contract's error codes, each with its status. */
const STATUS_OF: Record<string, number> = {
  UNAUTHORIZED: 401,
  UNKNOWN_OPERATION: 400,
  INVALID_PAYLOAD: 400,
  INVALID_QUERY: 400,
  INVALID_HEADER: 400,
  INVALID_TRACKING_ID: 400,
  UNKNOWN_TRACKING_ID: 404,
  NOT_FOUND: 404,
  CONFLICT: 409,
  INVALID_SIGNATURE: 401,
  IDEMPOTENCY_KEY_REUSED: 422,
  INVALID_CREDENTIALS: 401,
  TOO_MANY_ATTEMPTS: 429,
  FORBIDDEN: 403,
  USERNAME_TAKEN: 409,
  PRECONDITION_FAILED: 412,
  PRECONDITION_REQUIRED: 428,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
}

t.test(`${CASES} valid and invalid requests get only answers from the contract`, async t => {
  const { url, call, admin, operator } = await startWithAccounts(t, {
    ROLE: 'all',
    DOCS_ENABLED: 'true',
    ...BEHIND_PROXY,
  })
  const endpoints = endpointsOf((await call('GET', '/openapi.json')).body)
  const answers = new Map<string, number>()

  const bearers = fc.constantFrom(admin, admin, operator, {}, { authorization: 'Bearer x.y.z' })
  const tokens = fc.constantFrom(TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, 'wrong')
  for (const endpoint of endpoints)
    await fc.assert(
      fc.asyncProperty(requestsTo(endpoint), bearers, tokens, async (request, bearer, token) => {
        const credentials = { ...bearer, 'x-internal-token': token }
        const headers = { ...request.headers, ...credentials, ...elsewhere() }
        const outcome = await send(url, request, headers)
        const key = `${endpoint.method} ${endpoint.path} ${request.isFitting ? 'fitting' : 'broken'} ${outcome}`
        answers.set(key, (answers.get(key) ?? 0) + 1)
      }),
      { numRuns: Math.ceil(CASES / endpoints.length) },
    )

  if (process.env.FUZZ_CASES)
    for (const [answer, count] of [...answers].sort()) t.comment(`${count} × ${answer}`)
  t.equal((await call('GET', '/readyz')).status, 200, 'the process is alive and ready')
})

/** @throws Error if the contract does not define the answer */
async function send(
  url: string,
  request: Request,
  headers: Record<string, string>,
): Promise<string> {
  const { endpoint, path, body } = request
  const response = await fetch(url + path, {
    method: endpoint.method,
    headers,
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  })
  const text = await response.text()
  const { status } = response
  const what = `${endpoint.method} ${path} got ${status} ${text}`
  if (status < 400) {
    if (!(status in endpoint.responses))
      throw new Error(`${what}, which the contract does not define`)
    return String(status)
  }
  if (!response.headers.get('content-type')?.startsWith('application/problem+json'))
    throw new Error(`${what}, which is not a problem`)
  const { code, status: stated, request_id } = JSON.parse(text)
  const codes = endpoint.responses[status]?.['x-codes'] ?? []
  if (path.startsWith('/api/') && !codes.includes(code))
    throw new Error(`${what}, which the contract does not define for this call`)
  if (STATUS_OF[code] !== status || stated !== status || typeof request_id !== 'string')
    throw new Error(`${what}, which the contract does not define`)
  if (/node_modules|\.ts:\d|select |insert /i.test(text))
    throw new Error(`${what}, which reveals internals`)
  return `${status} ${code}`
}
