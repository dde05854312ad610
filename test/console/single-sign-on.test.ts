import { generateKeyPairSync } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import t from 'tap'
import { openSingleSignOn } from '../../src/accounts/sign-on/single-sign-on.ts'
import { freePort } from '../../src/embedded/free-port.ts'
import { ADMIN, OPERATOR } from '../support/accounts/admin.ts'
import { type Browse, browser, type Seen, startWithConsole } from '../support/console/console.ts'
import { startIssuer } from '../support/console/issuer.ts'
import { BEHIND_PROXY, elsewhere } from '../support/http/elsewhere.ts'
import { startTestService } from '../support/service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const FIRST_ADMIN = { ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password }
const START = '/console/login/sign-on'
const ROLES = { 'loanops-admins': 'admin', desk: 'operator', auditors: 'viewer' }

// Shared: each test logs in as a person of its own.
const issuer = await startIssuer(t, ROLES)
const service = await startWithConsole(t, { ...issuer.settings, ...BEHIND_PROXY })
issuer.open(service.url)
const { url, db, admin, anybody, call } = service

t.beforeEach(() => {
  issuer.alter = issuer.forger = issuer.instead = undefined
  issuer.asked.length = 0
})

/** The end of a login of this person. */
async function entered(person: Partial<typeof issuer.person>, path = START): Promise<Seen> {
  const name = person.sub ?? 'somebody'
  issuer.person = { sub: name, preferred_username: name, roles: ['desk'], ...person }
  const { callback, browse } = await issuer.logIn(url, path)
  return browse(callback, undefined, elsewhere())
}

/** The browser of somebody who has just logged in. */
const asIn = ({ headers }: Seen): Browse => browser(url, sessionIn(headers))

function sessionIn(headers: Headers): string {
  const line = headers.getSetCookie().find(one => /^loanops=/.test(one) && !/^loanops=;/.test(one))
  return line?.split(';', 1)[0] ?? ''
}

const accountNamed = (username: string) =>
  db
    .selectFrom('loanops.account')
    .selectAll()
    .where('username', '=', username)
    .execute()
    .then(([account]) => account)

const audited = (subject: string) =>
  db
    .selectFrom('loanops.audit')
    .select(['action', 'actor', 'detail'])
    .where('subject', '=', subject)
    .orderBy('id')
    .execute()

t.test('the login page has a link to single sign-on, which needs no script or form', async t => {
  const { text } = await anybody('/console/login?next=/console/payments')
  t.match(text, `<a href="${START}?next=%2Fconsole%2Fpayments">Single sign-on</a>`)
})

t.test('the start asks the issuer for a code with PKCE, a state and a nonce', async t => {
  const { status, headers } = await anybody(START)
  t.equal(status, 303)
  const asked = new URL(headers.get('location') ?? '')
  t.equal(asked.origin, issuer.url)
  t.match(Object.fromEntries(asked.searchParams), {
    response_type: 'code',
    client_id: 'loanops',
    redirect_uri: `${url}/console/login/callback`,
    code_challenge_method: 'S256',
    state: /^.{43}$/,
    nonce: /^.{43}$/,
  })
  t.match(headers.getSetCookie()[0], /^loanops-sign-on=.*Max-Age=600.*HttpOnly; SameSite=Lax/)
})

t.test(
  'the first login makes an account without a password, and leads to the page that was asked for',
  async t => {
    const answer = await entered({ sub: 'first' }, `${START}?next=/console/payments?reason=refund`)
    t.equal(answer.status, 303)
    t.equal(answer.headers.get('location'), '/console/payments?reason=refund')
    t.match((await asIn(answer)('/console')).text, 'first')
    t.match(await accountNamed('first'), {
      role: 'operator',
      password_hash: null,
      oidc_issuer: issuer.url,
      oidc_subject: 'first',
    })
    t.match(await audited('first'), [
      { action: 'account.register', detail: { role: 'operator', by: 'single sign-on' } },
      { action: 'account.login', actor: 'first' },
    ])
  },
)

t.test('no password opens an account of single sign-on, nor can one be given to it', async t => {
  await entered({ sub: 'wordless' })
  for (const password of ['a long pass phrase', 'nobody'])
    t.equal(
      (await call('POST', '/api/account/login', { username: 'wordless', password })).status,
      401,
    )
  const answer = await admin('/console/accounts/wordless/reset', {})
  t.equal(answer.status, 409)
  t.match(answer.text, 'logs in by single sign-on and has no password')
})

t.test('no page offers a password to an account of single sign-on', async t => {
  const own = asIn(await entered({ sub: 'passwordless' }))
  const { text } = await own('/console/password')
  t.match(text, 'You log in by single sign-on: your account has no password here.')
  t.match(text, 'End all others')
  t.notMatch(text, 'name="current_password"')
  // Other tests of this file make more accounts than a page has.
  const accounts = (await admin('/console/accounts?limit=200')).text
  t.match(accounts, '/console/accounts/passwordless/disable')
  t.notMatch(accounts, '/console/accounts/passwordless/reset')
  t.match(accounts, `/console/accounts/${OPERATOR.username}/reset`)
})

t.test('an account, known by issuer and sub, keeps its first name, whatever it is now', async t => {
  await entered({ sub: 'married' })
  for (const preferred_username of ['another.name', OPERATOR.username, 'Asha Rao', undefined])
    t.equal((await entered({ sub: 'married', preferred_username })).status, 303)
  t.equal(await accountNamed('another.name'), undefined)
  const before = (await audited('married')).filter(({ action }) => action === 'account.login')
  t.equal(before.length, 5)
})

t.test('two first logins at once make one account', async t => {
  issuer.person = { sub: 'twice', preferred_username: 'twice', roles: 'desk' }
  const both = await Promise.all([issuer.logIn(url), issuer.logIn(url)])
  const answers = await Promise.all(
    both.map(({ browse, callback }) => browse(callback, undefined, elsewhere())),
  )
  t.same(
    answers.map(({ status }) => status),
    [303, 303],
  )
  t.equal((await audited('twice')).filter(({ action }) => action === 'account.register').length, 1)
})

t.test('the highest mapped role counts, of a text or of a list', async t => {
  for (const [roles, role] of [
    ['auditors', 'viewer'],
    [['auditors', 'others', 'loanops-admins', 'desk'], 'admin'],
    [['auditors', 'desk'], 'operator'],
  ] as const) {
    const sub = `role.${role}`
    t.equal((await entered({ sub, roles })).status, 303)
    t.equal((await accountNamed(sub))?.role, role)
  }
})

t.test('each login sets the role, and ends the sessions with the old one', async t => {
  const before = asIn(await entered({ sub: 'moved', roles: 'loanops-admins' }))
  t.equal((await before('/console/accounts')).status, 200)
  const after = asIn(await entered({ sub: 'moved', roles: 'auditors' }))
  t.equal((await before('/console/accounts')).status, 303, 'the old session')
  t.equal((await after('/console/accounts')).status, 403)
  t.match(
    (await audited('moved')).filter(({ action }) => action === 'account.role'),
    [{ detail: { from: 'admin', to: 'viewer' } }],
  )
  await entered({ sub: 'moved', roles: 'loanops-admins' })
  t.equal((await before('/console/accounts')).status, 303, 'nor does it come back with the role')
})

t.test('a login without any role ends the sessions with the old one', async t => {
  const before = asIn(await entered({ sub: 'left', roles: 'loanops-admins' }))
  t.equal((await before('/console/accounts')).status, 200)
  t.equal((await entered({ sub: 'left', roles: [] })).status, 403)
  t.equal((await before('/console/accounts')).status, 303)
  t.match((await audited('left')).at(-1), { action: 'account.login_failed' })
})

t.test('without a mapped role, a page names the claim and no account is made', async t => {
  for (const roles of [
    undefined,
    [],
    ['others'],
    { desk: true },
    'constructor',
    '__proto__',
    'Desk',
  ]) {
    const { status, text, headers } = await entered({ sub: 'roleless', roles })
    t.equal(status, 403)
    t.match(text, 'the claim “roles” of your ID token')
    t.equal(sessionIn(headers), '')
  }
  t.equal(await accountNamed('roleless'), undefined)
})

t.test('the page of a refused single sign-on shows nothing that the issuer sent', async t => {
  issuer.person = { sub: 'refused', preferred_username: 'refused', roles: 'others' }
  const { callback, browse } = await issuer.logIn(url)
  const { status, text } = await browse(callback, undefined, elsewhere())
  t.equal(status, 403)
  for (const value of new URL(callback, url).searchParams.values()) t.notMatch(text, value)
})

t.test('a claim that is no username is named', async t => {
  for (const preferred_username of [undefined, 'Asha Rao', '', 'x'.repeat(101), ['list']]) {
    const { status, text } = await entered({ sub: 'unnamed', preferred_username })
    t.equal(status, 403)
    t.match(
      text,
      'the claim “preferred_username” of your ID token is not a username'.replace('the', 'The'),
    )
  }
})

t.test('a name of another account is refused, whoever has it', async t => {
  await entered({ sub: 'owner' })
  for (const preferred_username of [
    OPERATOR.username,
    OPERATOR.username.toUpperCase(),
    'owner',
    'internal-token',
  ]) {
    const { status, text, headers } = await entered({ sub: 'thief', preferred_username })
    t.equal(status, 403)
    t.match(text, `Another account already has the name ${preferred_username}`)
    t.equal(sessionIn(headers), '')
  }
})

t.test('a disabled account stays disabled, and its role as it was', async t => {
  await entered({ sub: 'dismissed' })
  await admin('/console/accounts/dismissed/disable', {})
  const { status, text, headers } = await entered({ sub: 'dismissed', roles: 'loanops-admins' })
  t.equal(status, 403)
  t.match(text, 'The account dismissed is disabled')
  t.equal(sessionIn(headers), '')
  t.equal((await accountNamed('dismissed'))?.role, 'operator')
  t.match((await audited('dismissed')).at(-1), {
    action: 'account.login_failed',
    actor: 'no account',
  })
})

t.test('a refused single sign-on is audited, and throttled by its address', async t => {
  const [from] = Object.values(elsewhere())
  const headers = { 'x-forwarded-for': from ?? '' }
  const refused = async (roles: unknown) => {
    issuer.person = { sub: 'insistent', preferred_username: 'insistent', roles }
    const { callback, browse } = await issuer.logIn(url)
    return browse(callback, undefined, headers)
  }
  t.equal((await refused('others')).status, 403)
  const failed = await db
    .selectFrom('loanops.audit')
    .select(['action', 'subject', 'detail'])
    .where('address', '=', from ?? '')
    .execute()
  const detail = { by: 'single sign-on', code: 'FORBIDDEN' }
  t.match(failed, [{ action: 'account.login_failed', subject: 'no account', detail }])
  await sql`update loanops.login_attempt set points = 50 where key = ${`sign-on:${from}`}`.execute(
    db,
  )
  t.equal((await refused('desk')).status, 429)
  t.equal((await anybody('/console/login', OPERATOR, headers)).status, 303, 'by password')
})

t.test('a callback without its own start opens nothing', async t => {
  issuer.person = { sub: 'victim', preferred_username: 'victim', roles: 'desk' }
  const { callback, browse } = await issuer.logIn(url)
  const other = await issuer.logIn(url)
  const forged = browse.cookie.replace(/=..../, '=%7B%7D')
  const withState = new URL(callback, url)
  withState.searchParams.set('state', 'another')
  const wrong: [string, Promise<Seen>][] = [
    ['no cookie', anybody(callback)],
    ['the cookie of another start', other.browse(callback, undefined, elsewhere())],
    ['a forged cookie', browser(url, forged)(callback)],
    ['another state', browse(withState.pathname + withState.search)],
    ['no code', browse('/console/login/callback')],
    ['what the issuer refused', browse('/console/login/callback?error=access_denied')],
  ]
  for (const [what, asked] of wrong) {
    const { status, text, headers } = await asked
    t.equal(status, 401, what)
    t.match(text, 'Single sign-on was not completed', what)
    t.equal(sessionIn(headers), '', what)
  }
  t.equal(await accountNamed('victim'), undefined)
})

t.test('a callback opens the console once, even with a copy of its cookie', async t => {
  issuer.person = { sub: 'once', preferred_username: 'once', roles: 'desk' }
  const { callback, browse } = await issuer.logIn(url)
  const first = await browse(callback, undefined, elsewhere())
  t.equal(first.status, 303)
  t.match(first.headers.getSetCookie().join(), /loanops-sign-on=;/, 'and the cookie is dropped')
  const again = await browse(callback, undefined, elsewhere())
  t.equal(again.status, 401)
  t.equal(sessionIn(again.headers), '')
})

t.test('an expired code opens nothing', async t => {
  issuer.person = { sub: 'late', preferred_username: 'late', roles: 'desk' }
  const { callback, browse } = await issuer.logIn(url)
  await issuer.expire(callback)
  const { status, headers } = await browse(callback, undefined, elsewhere())
  t.equal(status, 401)
  t.equal(sessionIn(headers), '')
})

t.test('an ID token that was issued for another login or client opens nothing', async t => {
  for (const [what, changes] of Object.entries({
    nonce: { nonce: 'another' },
    'no nonce': { nonce: undefined },
    audience: { aud: 'another client' },
    issuer: { iss: 'http://127.0.0.1:1' },
    'no subject': { sub: undefined },
  })) {
    issuer.alter = claims => ({ ...claims, ...changes })
    const { status, headers } = await entered({ sub: 'forged' })
    t.equal(status, 401, what)
    t.equal(sessionIn(headers), '', what)
  }
  t.equal(await accountNamed('forged'), undefined)
})

t.test('an ID token with another signature opens nothing', async t => {
  issuer.forger = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
  const { status, headers } = await entered({ sub: 'signed' })
  t.equal(status, 401)
  t.equal(sessionIn(headers), '')
})

t.test('clocks may differ by a minute, and by more is nobody’s failed login', async t => {
  for (const [seconds, status] of [
    [50, 303],
    [120, 503],
    [600, 503],
  ] as const) {
    const now = Math.floor(Date.now() / 1_000)
    for (const changes of [{ exp: now - seconds }, { nbf: now + seconds, iat: now + seconds }]) {
      issuer.alter = claims => ({ ...claims, ...changes })
      const answer = await entered({ sub: 'skewed' })
      t.equal(answer.status, status)
      t.equal(sessionIn(answer.headers) === '', status !== 303)
    }
  }
})

t.test(
  'an issuer that fails, hangs or sends too much is a 503 in bounded time, and passwords still work',
  async t => {
    for (const [what, instead] of Object.entries({
      failure: (_: unknown, response: any) => response.writeHead(500).end('{}'),
      'broken connection': (request: any) => request.socket.destroy(),
      silence: () => undefined,
      'expired secret': (_: unknown, response: any) =>
        response.writeHead(401, JSON_TYPE).end('{"error":"invalid_client"}'),
      'expired secret in a header': (_: unknown, response: any) =>
        response
          .writeHead(401, { ...JSON_TYPE, 'www-authenticate': 'Basic realm="issuer"' })
          .end('{"error":"invalid_client"}'),
      'rate limit': (_: unknown, response: any) =>
        response.writeHead(429, JSON_TYPE).end('{"error":"temporarily_unavailable"}'),
      flood: (_: unknown, response: any) =>
        response.writeHead(200, JSON_TYPE).end(`"${'x'.repeat(3_000_000)}"`),
      'encrypted ID token': (_: unknown, response: any) =>
        response
          .writeHead(200, JSON_TYPE)
          .end('{"access_token":"a","token_type":"Bearer","id_token":"a.b.c.d.e"}'),
    })) {
      issuer.instead = undefined
      issuer.person = { sub: 'waiting', preferred_username: 'waiting', roles: 'desk' }
      const { callback, browse } = await issuer.logIn(url)
      issuer.instead = instead
      const begun = performance.now()
      const { status, text } = await browse(callback, undefined, elsewhere())
      t.ok(performance.now() - begun < 8_000, what)
      t.equal(status, 503, what)
      t.match(text, 'Single sign-on does not answer', what)
      t.equal((await anybody('/console/login', OPERATOR)).status, 303, what)
    }
  },
)

t.test(
  'a login that the issuer refuses for our settings is a 503 with its reason, and counts for nobody',
  async t => {
    const reasons: unknown[] = []
    const log = { warn: ({ reason }: { reason: unknown }) => reasons.push(reason) }
    const { signOn } = service.config
    if (signOn === undefined) throw new Error('no single sign-on')
    const own = openSingleSignOn(signOn, log as unknown as FastifyBaseLogger)
    const [from] = Object.values(elsewhere())
    for (const error of ['invalid_scope', 'invalid_client', 'unauthorized_client']) {
      const { callback, browse } = await issuer.logIn(url)
      const refused = new URL(callback, url)
      refused.searchParams.delete('code')
      refused.searchParams.set('error', error)
      const path = refused.pathname + refused.search
      const { status } = await browse(path, undefined, { 'x-forwarded-for': from ?? '' })
      t.equal(status, 503, error)
      const { started } = await own.begin(`${url}/console/login/callback`)
      refused.searchParams.set('state', started.state)
      await t.rejects(own.finish(refused, started), { code: 'UNAVAILABLE' })
      t.equal(reasons.pop(), error)
    }
    const { rows } =
      await sql`select from loanops.login_attempt where key = ${`sign-on:${from}`}`.execute(db)
    t.equal(rows.length, 0)
  },
)

t.test('an issuer that is down at the start is a 503; the next login asks it again', async t => {
  const down = await startIssuer(t, ROLES)
  const other = await startWithConsole(t, down.settings)
  const { status, text } = await other.anybody(START)
  t.equal(status, 503)
  t.match(text, 'Single sign-on does not answer')
  t.match(text, 'name="password"')
  down.open(other.url)
  t.equal((await other.anybody(START)).status, 303)
})

t.test('the log says why an issuer cannot be reached', async t => {
  const { signOn } = service.config
  if (signOn === undefined) throw new Error('no single sign-on')
  const reasons: unknown[] = []
  const log = { warn: ({ reason }: { reason: unknown }) => reasons.push(reason) }
  for (const address of [`http://127.0.0.1:${await freePort(0)}`, 'https://issuer.invalid']) {
    const settings = { ...signOn, issuer: new URL(address) }
    const own = openSingleSignOn(settings, log as unknown as FastifyBaseLogger)
    await t.rejects(own.begin(`${url}/console/login/callback`), { code: 'UNAVAILABLE' })
  }
  t.match(reasons, ['ECONNREFUSED', /^(ENOTFOUND|EAI_AGAIN)$/])
})

t.test(
  'an issuer that calls itself otherwise, or speaks for many tenants, is refused and named in the log',
  async t => {
    for (const itsName of [
      'http://127.0.0.1:1/realms/lender',
      'https://login.example.com/{tenantid}/v2.0',
    ]) {
      const other = await startIssuer(t, ROLES)
      other.instead = (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ issuer: itsName, authorization_endpoint: `${other.url}/auth` }))
      const lines: string[] = []
      const log = {
        warn: (_: object, line: string) => lines.push(line),
      } as unknown as FastifyBaseLogger
      for (const issuer of [other.url, `${other.url}/.well-known/openid-configuration`]) {
        const { signOn: own } = service.config
        if (own === undefined) throw new Error('no single sign-on')
        const signOn = { ...own, issuer: new URL(issuer) }
        await t.rejects(openSingleSignOn(signOn, log).begin(`${url}/console/login/callback`), {
          code: 'UNAVAILABLE',
        })
        t.equal(lines.pop(), `OIDC_ISSUER must be what the issuer calls itself, ${itsName}`)
      }
    }
  },
)

t.test('an issuer gets the secret its way, and is asked for the scopes of OIDC_SCOPE', async t => {
  const basic = await startIssuer(t, ROLES, 'client_secret_basic')
  const settings = { ...basic.settings, OIDC_SCOPE: 'openid profile email offline_access' }
  const other = await startWithConsole(t, settings)
  basic.open(other.url)
  basic.person = { sub: 'basic', preferred_username: 'basic', roles: 'desk' }
  const { callback, browse } = await basic.logIn(other.url)
  t.equal((await browse(callback)).status, 303)
  const asked = basic.asked.find(path => path.startsWith('/auth?')) ?? ''
  t.equal(new URL(asked, basic.url).searchParams.get('scope'), settings.OIDC_SCOPE)
})

t.test('the browser’s Back after a login leads to the console', async t => {
  issuer.person = { sub: 'backer', preferred_username: 'backer', roles: 'desk' }
  const { callback, browse } = await issuer.logIn(url)
  const back = await asIn(await browse(callback))(callback)
  t.equal(back.status, 303)
  t.equal(back.headers.get('location'), '/console')
})

t.test('a callback of an earlier start leaves the login that started last as it is', async t => {
  issuer.person = { sub: 'two.tabs', preferred_username: 'two.tabs', roles: 'desk' }
  const earlier = await issuer.logIn(url)
  const { callback, browse } = await issuer.logIn(url)
  const refused = await browse(earlier.callback, undefined, elsewhere())
  t.equal(refused.status, 401)
  t.same(refused.headers.getSetCookie(), [], 'the cookie of the last start is kept')
  const entered = await browse(callback, undefined, elsewhere())
  t.equal(entered.status, 303)
})

t.test('no login leads out of the console', async t => {
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/console/../docs',
    '/console/login/sign-on',
  ])
    t.equal(
      (await entered({ sub: 'led' }, `${START}?next=${encodeURIComponent(next)}`)).headers.get(
        'location',
      ),
      '/console',
      next,
    )
})

t.test('a login issues a session of its own, and ends the one that it replaces', async t => {
  const before = asIn(await entered({ sub: 'again' }))
  const { callback, browse } = await issuer.logIn(url)
  const answer = await browser(url, `${before.cookie}; ${browse.cookie}`)(callback)
  t.not(sessionIn(answer.headers), before.cookie)
  t.equal((await before('/console')).status, 303)
  t.equal((await asIn(answer)('/console')).status, 200)
})

t.test('the log of a refused login holds nothing of the person, nor the code', async t => {
  const lines: string[] = []
  const note = (fields: object, text: string) => lines.push(JSON.stringify({ ...fields, text }))
  const { signOn } = service.config
  if (signOn === undefined) throw new Error('no single sign-on')
  const own = openSingleSignOn(signOn, { warn: note } as unknown as FastifyBaseLogger)
  issuer.person = { sub: 'marked-sub', preferred_username: 'marked-name', roles: 'desk' }
  const { callback } = await issuer.logIn(url)
  const { started } = await own.begin(`${url}/console/login/callback`)
  for (const state of [started.state, new URL(callback, url).searchParams.get('state') ?? ''])
    await t.rejects(own.finish(new URL(callback, url), { ...started, state }))
  t.equal(lines.length, 2)
  t.notMatch(lines.join(), /marked|[?&=]|code/)
})

t.test('an address not verified by the issuer counts neither as a name nor for a role', async t => {
  const other = await startIssuer(t, { 'asha@lender.example': 'admin' })
  const byAddress = { ...other.settings, OIDC_ROLE_CLAIM: 'email', OIDC_USERNAME_CLAIM: 'email' }
  const own = await startWithConsole(t, byAddress)
  other.open(own.url)
  for (const [email_verified, status] of [
    [undefined, 403],
    [false, 403],
    ['true', 403],
    [true, 303],
  ] as const) {
    other.person = { sub: 'asha', email: 'asha@lender.example', email_verified }
    const { callback, browse } = await other.logIn(own.url)
    const answer = await browse(callback, undefined, elsewhere())
    t.equal(answer.status, status, `${email_verified}`)
    if (status === 403) t.match(answer.text, 'the claim “email_verified” is not true')
  }
})

t.test(
  'without passwords, only the API’s login and accounts made by create-admin use one in the console',
  async t => {
    const own = await startTestService(t, {
      ...issuer.settings,
      ...FIRST_ADMIN,
      CONSOLE_ENABLED: 'true',
      PASSWORD_LOGIN: 'false',
    })
    const browse = browser(own.url)
    t.match((await browse('/console/login')).text, /<details><summary>.*name="password"/s)
    const refused = await browse('/console/login', ADMIN)
    t.equal(refused.status, 401)
    t.match(refused.text, 'Passwords are turned off here: use single sign-on')
    t.equal(refused.headers.getSetCookie().length, 0)
    const wrong = await browse('/console/login', { ...ADMIN, password: 'another pass phrase' })
    t.match(wrong.text, 'Wrong username or password')
    t.equal((await own.call('POST', '/api/account/login', ADMIN)).status, 200)
    await own.db.updateTable('loanops.account').set({ made_by_command: true }).execute()
    t.equal((await browse('/console/login', ADMIN)).status, 303)
  },
)
