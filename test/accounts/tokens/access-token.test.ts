import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'
import {
  type AccountService,
  type Bearer,
  startWithAccounts,
} from '../../support/accounts/admin.ts'
import { type Call, caller, testEnv } from '../../support/service.ts'

const OLD = 'an-old-secret-of-32-characters-or-more'
const NEW = 'a-new-secret-of-32-characters-or-more'

t.test('a token contains issuer, audience, key, expiry and role', async t => {
  const { admin } = await startWithAccounts(t)
  const { header, payload } = decoded(admin)
  t.match(header, { alg: 'HS256', typ: 'JWT', kid: /^[0-9a-f]{12}$/ })
  t.match(payload, { iss: 'loanops', aud: 'loanops-api', name: 'admin', role: 'admin' })
  t.equal(payload.exp - payload.iat, 3_600)
})

t.test('tokens signed with the old key are valid until it is removed', async t => {
  const service = await startWithAccounts(t, { JWT_SECRET: OLD })
  const rotating = await another(t, service, `${NEW}, ${OLD}`)
  const rotated = await another(t, service, NEW)
  t.equal(await isGood(rotating, service.admin), true)
  t.equal(await isGood(rotated, service.admin), false)
})

t.test('a forged token is refused, however it was forged', async t => {
  const { call, admin } = await startWithAccounts(t, { JWT_SECRET: OLD })
  t.equal(await isGood(call, admin), true)
  const { header, payload } = decoded(admin)
  const past = Math.floor(Date.now() / 1_000) - 10
  const forged: Record<string, string> = {
    'no algorithm': `${token({ ...header, alg: 'none' }, payload, OLD)
      .split('.', 2)
      .join('.')}.`,
    'another algorithm': token({ ...header, alg: 'HS512' }, payload, OLD, 'sha512'),
    'another secret': token(header, payload, NEW),
    'another key id': token({ ...header, kid: '000000000000' }, payload, NEW),
    'another issuer': token(header, { ...payload, iss: 'somebody' }, OLD),
    'another audience': token(header, { ...payload, aud: 'somebody' }, OLD),
    'no expiry': token(header, { ...payload, exp: undefined }, OLD),
    expired: token(header, { ...payload, exp: past }, OLD),
    'another role': token(header, { ...payload, role: 'operator' }, OLD),
    'no account': token(header, { ...payload, sub: '00000000-0000-7000-8000-000000000000' }, OLD),
    'an older generation': token(header, { ...payload, gen: 0 }, OLD),
    'no uuid for its account': token(header, { ...payload, sub: 'admin' }, OLD),
    'no uuid of its own': token(header, { ...payload, jti: 'x', gen: 99 }, OLD),
    'a generation that is no number': token(header, { ...payload, gen: 'x' }, OLD),
    'a generation beyond all': token(header, { ...payload, gen: 1e12 }, OLD),
    'a role with a NUL': token(header, { ...payload, role: 'admin\0' }, OLD),
    'cut off': admin.authorization.slice('Bearer '.length, -5),
    garbage: 'garbage',
    '': '',
  }
  for (const [how, text] of Object.entries(forged))
    t.equal(await isGood(call, { authorization: `Bearer ${text}` }), false, how)
})

function decoded({ authorization }: Bearer) {
  const [header, payload] = authorization
    .slice('Bearer '.length)
    .split('.')
    .slice(0, 2)
    .map(part => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { header, payload }
}

function token(header: object, payload: object, secret: string, hash = 'sha256'): string {
  const encoded = [header, payload].map(part =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signed = encoded.join('.')
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

/** The body is invalid, so an accepted token of an administrator gets a 400. */
async function isGood(call: Call, bearer: Bearer): Promise<boolean> {
  const { status, body } = await call('POST', '/api/account/register', {}, bearer)
  if (status === 401 && body.code === 'UNAUTHORIZED') return false
  if (status === 400 && body.code === 'INVALID_PAYLOAD') return true
  throw new Error(`${status} ${JSON.stringify(body)}`)
}

async function another(t: Test, { databaseUrl, ledger }: AccountService, secrets: string) {
  const env = testEnv(databaseUrl, ledger.url, { ROLE: 'api', JWT_SECRET: secrets })
  const service = await startRole(readConfig(env), logger('silent'))
  t.teardown(() => service.close())
  return caller(service.url)
}
