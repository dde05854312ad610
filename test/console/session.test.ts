import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { tokenKeys } from '../../src/accounts/tokens/token-keys.ts'
import { newId } from '../../src/ids.ts'
import { ADMIN, bearer, OPERATOR } from '../support/accounts/admin.ts'
import {
  browser,
  cookieIn,
  loggedIn,
  startWithConsole,
  VIEWER,
} from '../support/console/console.ts'
import { untilSessionsWait } from '../support/database/sessions.ts'
import { startTestService, testEnv } from '../support/service.ts'

/** The list as after a change: without `done`, it may be some seconds old. */
const LIST = '/console/accounts?done=registered'
const SECRET = String(testEnv('', '').JWT_SECRET)

// Shared: each test ends only sessions that it began, and changes only accounts that it created.
const service = await startWithConsole(t, { TRUST_PROXY: '127.0.0.1' })
const { url, db, anybody, operator, viewer, admin, call } = service

t.test('without a login, a page redirects to the login, which leads back', async t => {
  const { status, headers } = await anybody('/console/payments?reason=no_loan_named')
  t.equal(status, 303)
  const login = headers.get('location') ?? ''
  t.match(login, /^\/console\/login\?next=/)
  const form = { ...OPERATOR, next: new URL(login, url).searchParams.get('next') ?? '' }
  const answer = await anybody('/console/login', form)
  t.equal(answer.status, 303)
  t.equal(answer.headers.get('location'), '/console/payments?reason=no_loan_named')
})

t.test('a login opens although the page before it has too long a URL to lead back', async t => {
  const { headers } = await anybody(`/console/payments?loan=${'%E0%A4%95'.repeat(230)}`)
  t.equal(headers.get('location'), '/console/login')
})

t.test('an htmx request without a session redirects the whole page', async t => {
  const { headers } = await anybody('/console', undefined, { 'hx-request': 'true' })
  t.equal(headers.get('hx-redirect'), '/console/login')
  const page = { 'hx-request': 'true', referer: `${url}/console/payments?reason=refund` }
  const answer = await anybody('/console/payments?reason=refund', undefined, page)
  const login = new URL(answer.headers.get('hx-redirect') ?? '', url)
  t.equal(login.searchParams.get('next'), '/console/payments?reason=refund', 'and leads back')
})

t.test('login never redirects outside the console', async t => {
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/console/../docs',
    'javascript:1',
  ]) {
    const { headers } = await anybody('/console/login', { ...OPERATOR, next })
    t.equal(headers.get('location'), '/console', next)
  }
})

t.test('scripts cannot read the cookie, and other sites’ forms do not send it', async t => {
  const { headers } = await anybody('/console/login', OPERATOR)
  const [cookie = ''] = headers.getSetCookie()
  t.match(cookie, /; HttpOnly/)
  t.match(cookie, /; SameSite=Lax/)
  t.notMatch(cookie, /; Secure/)
})

t.test('over HTTPS, the cookie is sent over HTTPS only', async t => {
  const { headers } = await anybody('/console/login', OPERATOR, { 'x-forwarded-proto': 'https' })
  t.match(headers.getSetCookie()[0], /^__Host-[^;]+;.*Path=\/;.*Secure/)
})

t.test('the cookie is not accepted under /api', async t => {
  const { headers } = await anybody('/console/login', ADMIN)
  const cookie = cookieIn(headers)
  const token = cookie.split('=')[1]
  const wanted = { username: 'x', password: 'a long pass phrase', role: 'viewer' }
  for (const sent of [{ cookie }, { authorization: `Bearer ${token}` }])
    t.equal(
      (
        await call(
          'POST',
          '/api/account/register',
          wanted,
          sent as object as Record<string, string>,
        )
      ).status,
      401,
    )
  t.equal((await fetch(`${url}/api/payments`, { headers: { cookie } })).status, 401)
})

t.test('a token of the API is not accepted by the console', async t => {
  const { authorization } = await bearer(call, OPERATOR)
  const cookie = `loanops=${authorization.slice('Bearer '.length)}`
  t.equal((await browser(url, cookie)('/console')).status, 303)
})

t.test('a logout ends the session on the server', async t => {
  const browse = await loggedIn(url, OPERATOR)
  t.equal((await browse('/console')).status, 200)
  t.equal((await browse('/console/logout', {})).headers.get('location'), '/console/login')
  t.equal((await browse('/console')).status, 303)
  t.equal((await operator('/console')).status, 200, 'another login of the account goes on')
})

t.test('login issues a new session', async t => {
  const planted = viewer.cookie
  const { headers } = await browser(url, planted)('/console/login', OPERATOR)
  const own = cookieIn(headers)
  t.not(own, planted)
  await browser(url, own)('/console/logout', {})
  t.equal((await browser(url, own)('/console')).status, 303)
  t.match((await browser(url, planted)('/console')).text, VIEWER.username, 'it is still another’s')
})

t.test('a session that has expired, or claims what its account is not, opens nothing', async t => {
  const claims = claimsIn(viewer.cookie)
  const now = Math.floor(Date.now() / 1_000)
  t.equal((await browser(url, cookieOf(claims))('/console')).status, 200)
  for (const forged of [
    { ...claims, exp: now - 1 },
    { ...claims, role: 'admin' },
    { ...claims, gen: claims.gen + 1 },
    { ...claims, sub: claimsIn(operator.cookie).sub },
    { ...claims, aud: 'loanops-api' },
    { ...claims, jti: 'x' },
  ])
    t.equal((await browser(url, cookieOf(forged))('/console')).status, 303, forged)
  t.equal((await browser(url, cookieOf(claims, 'another-secret'))('/console')).status, 303)
  t.equal((await browser(url, cookieOf(claims, SECRET, 'none'))('/console')).status, 303)
})

t.test('a session is renewed while it is used, but not beyond a working day', async t => {
  const claims = claimsIn(viewer.cookie)
  const now = Math.floor(Date.now() / 1_000)
  const worn = { ...claims, iat: now - 1_000, exp: now + 800, began: now - 3_600 }
  const renewed = cookieIn((await browser(url, cookieOf(worn))('/console')).headers)
  t.match(claimsIn(renewed), { jti: claims.jti, began: worn.began })
  t.ok(claimsIn(renewed).exp > worn.exp)
  const old = { ...worn, began: now - 13 * 3_600 }
  const { status, headers } = await browser(url, cookieOf(old))('/console')
  t.equal(status, 200)
  t.same(headers.getSetCookie(), [])
})

t.test('a renewed session ends with the working day', async t => {
  const claims = claimsIn(viewer.cookie)
  const now = Math.floor(Date.now() / 1_000)
  const end = now + 900
  const worn = { ...claims, iat: now - 1_700, exp: now + 100, began: end - 12 * 3_600 }
  const renewed = cookieIn((await browser(url, cookieOf(worn))('/console')).headers)
  t.equal(claimsIn(renewed).exp, end)
  const { status, headers } = await browser(url, renewed)('/console')
  t.equal(status, 200)
  t.same(headers.getSetCookie(), [])
})

t.test('a page that refreshes itself does not renew its session', async t => {
  const claims = claimsIn(viewer.cookie)
  const now = Math.floor(Date.now() / 1_000)
  const worn = { ...claims, iat: now - 1_000, exp: now + 800, began: now - 3_600 }
  const browse = browser(url, cookieOf(worn))
  const refreshed = await browse('/console', undefined, { 'hx-request': 'true' })
  t.equal(refreshed.status, 200)
  t.same(refreshed.headers.getSetCookie(), [])
})

t.test('a change of the password ends the session', async t => {
  const credentials = { username: 'changer', password: 'the first pass phrase' }
  await admin('/console/accounts', { ...credentials, role: 'operator' })
  const browse = await loggedIn(url, credentials)
  const change = { current_password: credentials.password, new_password: 'the second pass phrase' }
  await call('POST', '/api/account/password', change, await bearer(call, credentials))
  t.equal((await browse('/console')).status, 303)
})

t.test('a form filled in after its session expired can be sent after the next login', async t => {
  const path = '/console/payments/gateway_a/pay_1/note?kind=refund'
  const note = `asked the branch: <b>“${'वापसी का अनुरोध '.repeat(40)}”</b>`
  const referer = `${url}/console/payments/gateway_a/pay_1`
  const late = await browser(url, expired(operator.cookie))(path, { note }, { referer })
  t.equal(late.status, 303)
  const login = late.headers.get('location') ?? ''
  t.equal(new URL(login, url).searchParams.get('next'), '/console/payments/gateway_a/pay_1')
  const kept = browser(url, cookieIn(late.headers))
  t.match(
    (await kept(login)).text,
    /role="alert".*nothing was changed.*What you typed has been kept/s,
  )
  const asked = await kept('/console/login', { ...OPERATOR, next: referer })
  t.equal(asked.status, 200)
  t.match(asked.text, /Send it now\?<\/h1>.*<dd>asked the branch: &lt;b&gt;/s)
  t.match(asked.text, `<form class="box" method="post" action="${path}">`)
  t.match(asked.text, /<input type="hidden" name="note" value="asked the branch: &lt;b&gt;“वापसी/)
  t.ok(isDropped(asked.headers), 'it is offered once')
})

t.test('a password, a file and too long a text are not kept; the login page says so', async t => {
  const long = { note: Array.from({ length: 3_000 }, (_, n) => `${n * 7919}`).join(' ') }
  const secret = { username: 'x', password: 'a long pass phrase', role: 'viewer' }
  for (const form of [long, secret]) {
    const late = await browser(url, expired(operator.cookie))('/console/accounts', form)
    const cookie = cookieIn(late.headers)
    const kept = browser(url, cookie)
    t.match((await kept('/console/login')).text, /fill it in again/)
    t.equal((await kept('/console/login', OPERATOR)).status, 303)
  }
})

t.test('the login page mentions a form of an unknown sender only until the next login', async t => {
  const late = await anybody('/console/payments/gateway_a/pay_1/note', { note: 'x' })
  const lost = browser(url, cookieIn(late.headers))
  t.match((await lost('/console/login')).text, /fill it in again/)
  const { status, headers } = await lost('/console/login', OPERATOR)
  t.equal(status, 303)
  t.ok(isDropped(headers), 'whoever fills it in again is not told later that nothing was changed')
})

t.test(
  'a login with a reset password leads to no page but the one to change it, until it is changed',
  async t => {
    const credentials = { username: 'returner', password: 'a pass phrase to reset' }
    await admin('/console/accounts', { ...credentials, role: 'viewer' })
    const before = await loggedIn(url, credentials)
    const list = await admin(LIST)
    const [, path = ''] = /href="([^"]*returner\/reset)"/.exec(list.text) ?? []
    t.match((await admin(path)).text, /<form[^>]*>.*Reset password<\/button>/s)
    const done = await admin(path, {})
    const [, password = ''] = /<code>([^<]+)<\/code>/.exec(done.text) ?? []
    t.equal(done.headers.get('cache-control'), 'no-store')
    t.equal((await before('/console')).headers.get('location'), '/console/login')

    const browse = await loggedIn(url, { ...credentials, password })
    for (const page of ['/console', '/console/payments'])
      t.equal((await browse(page)).headers.get('location'), '/console/password')
    const live = await browse('/console', undefined, { 'hx-request': 'true' })
    t.equal(live.headers.get('hx-redirect'), '/console/password')
    t.equal((await browse('/console/password/end-others', {})).status, 303)
    t.match((await browse('/console/password')).text, /An administrator has reset your password/)
    const change = { current_password: password, new_password: 'a pass phrase of my own' }
    const refused = await browse('/console/password', { ...change, repeated_password: 'another' })
    t.equal(refused.status, 400)
    t.notMatch(refused.text, /a pass phrase of my own/)
    const changed = await browse('/console/password', {
      ...change,
      repeated_password: change.new_password,
    })
    t.match((await browse(changed.headers.get('location') ?? '')).text, /password is changed/)
    t.equal((await browse('/console')).status, 200)
  },
)

t.test('a wrong current password is named beside its field', async t => {
  const password = 'a pass phrase of my own'
  const change = { current_password: 'wrong', new_password: password, repeated_password: password }
  const { text } = await operator('/console/password', change, {
    referer: `${url}/console/password`,
  })
  t.match(text, /id="current_password-refused"><strong>current password<\/strong> is wrong</)
})

t.test('a person ends all other sessions and tokens of their account', async t => {
  const credentials = { username: 'ender', password: 'a pass phrase in two places' }
  await admin('/console/accounts', { ...credentials, role: 'operator' })
  const [here, there] = [await loggedIn(url, credentials), await loggedIn(url, credentials)]
  const token = await bearer(call, credentials)
  t.match((await here('/console')).text, /href="\/console\/password"/)
  t.match((await here('/console/password')).text, /End all others<\/button>/)
  t.equal((await here('/console/password/end-others', {})).status, 303)
  t.equal((await here('/console')).status, 200)
  t.equal((await there('/console')).status, 303)
  t.equal((await call('POST', '/api/ledger/resume', undefined, token)).status, 401)
})

t.test('a session that is ended while it ends the others does not come back', async t => {
  const credentials = { username: 'intruded', password: 'a pass phrase that was seen' }
  await admin('/console/accounts', { ...credentials, role: 'operator' })
  const stolen = await loggedIn(url, credentials)
  const { answer } = await db.transaction().execute(async trx => {
    await sql`
      update loanops.account set token_generation = token_generation + 1, kept_token = ${newId()}
       where username = ${credentials.username}`.execute(trx)
    const answer = stolen('/console/password/end-others', {})
    await untilSessionsWait(db)
    return { answer }
  })
  t.match((await answer).headers.get('location'), '/console/login')
  t.equal((await stolen('/console')).status, 303)
})

t.test('a form that somebody else or nobody known filled in is neither shown nor sent', async t => {
  const path = '/console/payments/gateway_a/pay_1/note'
  const typed = { note: 'the branch asked for it' }
  const late = await browser(url, expired(operator.cookie))(path, typed)
  const kept = browser(url, cookieIn(late.headers))
  const other = await kept('/console/login', VIEWER)
  t.equal(other.status, 303)
  t.notOk(isDropped(other.headers), 'it waits for its own account')
  t.match(
    (await kept('/console/login', OPERATOR)).text,
    /Send it now\?<\/h1>.*<dd>note on payments gateway_a\/pay_1</s,
  )
  const [value = ''] = kept.cookie.split('=').slice(1)
  const planted = browser(url, `loanops-form=${value.replace(/\..*/, '')}`)
  t.equal((await planted('/console/login', OPERATOR)).status, 303, 'unsigned')
  const unknown = await anybody(path, typed)
  const offered = await browser(url, cookieIn(unknown.headers))('/console/login', OPERATOR)
  t.equal(offered.status, 303, 'without a session')
})

t.test('a logout removes what was kept, and nothing is kept of the session afterwards', async t => {
  const browse = await loggedIn(url, OPERATOR)
  t.ok(isDropped((await browse('/console/logout', {})).headers))
  const late = await browse('/console/payments/gateway_a/pay_1/note', { note: 'too late' })
  const again = await browser(url, cookieIn(late.headers))('/console/login', OPERATOR)
  t.equal(again.status, 303)
})

t.test('another login of an account in the same browser ends the first session', async t => {
  const first = await loggedIn(url, OPERATOR)
  const old = claimsIn(first.cookie)
  const { headers } = await first('/console/login', OPERATOR)
  t.equal((await first('/console')).status, 303)
  const now = claimsIn(cookieIn(headers))
  t.ok(now.jti !== old.jti && now.began >= old.began)
})

t.test('an account is disabled for good only after a confirmation that says so', async t => {
  const credentials = { username: 'leaver', password: 'a pass phrase to forget' }
  await admin('/console/accounts', { ...credentials, role: 'operator' })
  const browse = await loggedIn(url, credentials)
  const list = await admin(LIST)
  const [, path = ''] = /href="([^"]*leaver\/disable)"/.exec(list.text) ?? []
  t.notMatch(list.text, /<form[^>]*leaver/)
  t.match((await admin(path)).text, /<h1>Disable leaver.*permanent.*<form[^>]*method="post"/s)
  t.equal((await browse('/console')).status, 200, 'nothing has happened yet')
  t.equal((await admin(path, {})).status, 303)
  t.equal((await browse('/console')).status, 303)
  t.equal((await admin('/console/accounts/nobody/disable')).status, 404)
  t.equal((await operator(path)).status, 403)
  const again = await admin('/console/accounts', { ...credentials, role: 'operator' })
  t.equal(again.status, 409)
})

t.test('requests from another site change nothing', async t => {
  const login = { ...OPERATOR }
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ])
    t.equal((await anybody('/console/login', login, headers)).status, 403, JSON.stringify(headers))
  for (const headers of [
    {},
    { origin: url },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])
    t.equal((await anybody('/console/login', login, headers)).status, 303, JSON.stringify(headers))
})

t.test('behind our proxy, a request is accepted from the origin that the browser sees', async t => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ops.example' }
  const sent = (origin: string) => anybody('/console/login', OPERATOR, { ...forwarded, origin })
  t.equal((await sent('https://ops.example')).status, 303)
  t.equal((await sent('http://ops.example')).status, 403)
})

t.test('every page has a policy that allows nothing inline and no frame', async t => {
  for (const path of ['/console/login', '/console', '/console/none', '/console/assets/htmx.js']) {
    const { headers } = await operator(path)
    t.match(
      headers.get('content-security-policy'),
      /default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/,
    )
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    t.equal(headers.get('referrer-policy'), 'same-origin')
  }
})

t.test('login reports a missing cookie', async t => {
  const headers = { referer: `${url}/console/login?next=%2Fconsole` }
  t.match((await anybody('/console/login', undefined, headers)).text, /did not keep the cookie/)
})

t.test('failed logins count towards the throttle of the API', async t => {
  const forgetful = { username: 'forgetful', password: 'a phrase that is forgotten' }
  await admin('/console/accounts', { ...forgetful, role: 'viewer' })
  const from = { 'x-forwarded-for': '203.0.113.9' }
  const login = (form: typeof forgetful) => anybody('/console/login', form, from)
  const wrong = { ...forgetful, password: 'not the right one' }
  for (let i = 0; i < 5; i++) t.equal((await login(wrong)).status, 401)
  const refused = await login(forgetful)
  t.equal(refused.status, 429)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await call('POST', '/api/account/login', forgetful, from)).status, 429)
  const [, path = ''] =
    /<form[^>]*action="([^"]*forgetful\/unlock)"><input[^>]*>5/.exec((await admin(LIST)).text) ?? []
  t.equal((await operator(path, {})).status, 403)
  t.equal((await admin(path, {})).status, 303)
  t.equal((await login(forgetful)).status, 303, 'an administrator has unlocked it')
})

type Claims = Record<'sub' | 'jti' | 'role' | 'aud', string> &
  Record<'iat' | 'exp' | 'gen' | 'began', number>

/** What the token in a cookie says. */
function claimsIn(cookie: string): Claims {
  const [, body = ''] = cookie.split('.')
  return JSON.parse(Buffer.from(body, 'base64url').toString())
}

/** The cookie of a session that ended by itself. */
function expired(cookie: string): string {
  return cookieOf({ ...claimsIn(cookie), exp: Math.floor(Date.now() / 1_000) - 1 })
}

const isDropped = (headers: Headers) =>
  headers.getSetCookie().some(one => /^loanops-form=;/.test(one))

/** A cookie as the service would issue it for these claims. */
function cookieOf(claims: Claims, secret = SECRET, alg = 'HS256'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg, typ: 'JWT', kid: tokenKeys([SECRET]).kid })}.${part(claims)}`
  const signature = createHmac('sha256', secret).update(text).digest('base64url')
  return `loanops=${text}.${alg === 'none' ? '' : signature}`
}

t.test('CONSOLE_ENABLED=false serves no console', async t => {
  const { url } = await startTestService(t, { CONSOLE_ENABLED: 'false', ROLE: 'api' })
  t.equal((await fetch(`${url}/console/login`)).status, 404)
})
