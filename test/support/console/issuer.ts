import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { serve } from '../http/serve.ts'
import { type Browse, browser } from './console.ts'

const CLIENT = { id: 'loanops', secret: 'the secret of the client in tests' }
const CALLBACK = '/console/login/callback'

type Claims = Record<string, unknown>
type Issuer = {
  url: string
  settings: NodeJS.ProcessEnv
  /** Whoever logs in next, by the issuer's own id. */
  person: Claims & { sub: string }
  /** Changes the next ID tokens before they are signed again. */
  alter?: ((claims: Claims) => Claims) | undefined
  /** Signs the next ID tokens instead of the issuer's key. */
  forger?: KeyObject | undefined
  /** What answers instead of the issuer. */
  instead?: RequestListener | undefined
  /** What has asked for a page of the issuer. */
  asked: string[]
  /** Registers the client. */
  open(serviceUrl: string): void
  /** Lets the code of a callback expire. */
  expire(callback: string): Promise<void>
  /** Logs in as the person: the callback's path, and a browser with the cookie of its start. */
  logIn(serviceUrl: string, path?: string): Promise<{ callback: string; browse: Browse }>
}

/** A real issuer, oidc-provider, whose faults can be chosen. */
export async function startIssuer(
  t: Test,
  roles: object,
  secretIn: 'client_secret_post' | 'client_secret_basic' = 'client_secret_post',
): Promise<Issuer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  let oidc: Provider
  let answer: RequestListener = (_, response) => response.writeHead(503).end()
  const url = await serve(t, (request, response) => {
    issuer.asked.push(request.url ?? '')
    ;(issuer.instead ?? answer)(request, response)
  })
  const issuer: Issuer = {
    url,
    settings: {
      OIDC_ISSUER: url,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_ROLES: JSON.stringify(roles),
    },
    person: { sub: 'nobody' },
    asked: [],
    open: serviceUrl => {
      oidc = provider(issuer, privateKey, serviceUrl + CALLBACK, secretIn)
      answer = answersOf(issuer, oidc)
    },
    async expire(callback) {
      const code = new URL(callback, url).searchParams.get('code')
      const { adapter } = oidc.AuthorizationCode
      await adapter.upsert(code, { ...(await adapter.find(code)), exp: 1 }, 60)
    },
    logIn: (serviceUrl, path = '/console/login/sign-on') => logIn(serviceUrl, path),
  }
  return issuer
}

function provider(
  issuer: Issuer,
  privateKey: KeyObject,
  redirectUri: string,
  secretIn: string,
): Provider {
  const claims = ['sub', 'roles', 'preferred_username', 'email', 'email_verified', 'groups']
  const oidc = new Provider(issuer.url, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: secretIn,
      },
    ],
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
    },
    cookies: { keys: ['a key of the issuer’s cookies'] },
    claims: { openid: claims },
    clientAuthMethods: [secretIn],
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => issuer.person }),
    async loadExistingGrant({ oidc: { session, client, provider } }: any) {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  oidc.use(async (context: any, next: () => Promise<void>) => {
    await next()
    const token = context.body?.id_token
    if (typeof token === 'string' && (issuer.alter || issuer.forger))
      context.body.id_token = signedAgain(token, issuer, privateKey)
  })
  return oidc
}

function answersOf(issuer: Issuer, oidc: Provider): RequestListener {
  const answer = oidc.callback()
  return (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response)
    return oidc.interactionFinished(request, response, { login: { accountId: issuer.person.sub } })
  }
}

function signedAgain(token: string, { alter, forger }: Issuer, key: KeyObject): string {
  const [header, payload = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const changed = Buffer.from(JSON.stringify(alter?.(claims) ?? claims)).toString('base64url')
  const signer = createSign('RSA-SHA256').update(`${header}.${changed}`)
  return `${header}.${changed}.${signer.sign(forger ?? key, 'base64url')}`
}

async function logIn(serviceUrl: string, path: string) {
  const started = await browser(serviceUrl)(path)
  const cookie = started.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const jar = new Map<string, string>()
  let at = started.headers.get('location') ?? ''
  while (!at.startsWith(serviceUrl)) {
    const kept = [...jar].map(pair => pair.join('=')).join('; ')
    const { headers, status } = await fetch(at, { redirect: 'manual', headers: { cookie: kept } })
    for (const line of headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';', 1)[0]?.split('=') ?? []
      jar.set(name, value)
    }
    const location = headers.get('location')
    if (location === null)
      throw new Error(`the issuer answers ${status} to ${new URL(at).pathname}`)
    at = new URL(location, at).href
  }
  return { callback: at.slice(serviceUrl.length), browse: browser(serviceUrl, cookie) }
}
