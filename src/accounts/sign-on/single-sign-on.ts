import createError from '@fastify/error'
import type { FastifyBaseLogger } from 'fastify'
import * as openid from 'openid-client'
import { fetch, type RequestInit } from 'undici'
import type { OutboundProxy } from '../../config/proxy.ts'
import type { SignOnSettings } from '../../config/settings/sign-on-settings.ts'
import { connectionTrouble, openAgent } from '../../http/connections/open-agent.ts'
import { turns } from '../throttling/turns.ts'

/** The time of each call; a login makes three at most. */
const TIMEOUT_SECONDS = 3
/** A set of keys and an ID token have some kilobytes. */
const MAX_ANSWER_BYTES = 1_000_000
const MAX_CONCURRENT_CALLS = 8
const MAX_WAITING_CALLS = 100
/** Badly synchronised clocks differ by up to this much. */
const CLOCK_TOLERANCE_SECONDS = 60
/** An issuer's keys are asked for more often, whenever one is unknown. */
const METADATA_MS = 3_600_000

export const IssuerUnavailable = createError(
  'UNAVAILABLE',
  'Single sign-on does not answer or refuses LoanOps; the service’s log has the reason. Try again in a few seconds.',
  503,
)
export const SignOnRefused = createError(
  'INVALID_CREDENTIALS',
  'Single sign-on was not completed, took too long or was already used. Try again.',
  401,
)

/** The cookie that the browser keeps, signed, from the start of a login to its end. */
export type StartedSignOn = { state: string; nonce: string; verifier: string }

/** Both steps of a login throw IssuerUnavailable. */
export function openSingleSignOn(settings: SignOnSettings, log: FastifyBaseLogger) {
  const discovered = knownIssuer(settings, log)
  const inTurn = turns(MAX_CONCURRENT_CALLS, MAX_WAITING_CALLS)

  return {
    /** @returns the issuer's page to log in at */
    async begin(redirectUri: string): Promise<{ url: URL; started: StartedSignOn }> {
      const configuration = await discovered()
      const started = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: started.state,
        nonce: started.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(started.verifier),
        code_challenge_method: 'S256',
      })
      return { url, started }
    },

    /**
     * @param url to which the issuer has led the browser back
     * @returns the claims of the ID token, whose signature, issuer, audience, times and nonce are right
     * @throws SignOnRefused
     */
    async finish(url: URL, { state, nonce, verifier }: StartedSignOn): Promise<openid.IDToken> {
      const configuration = await discovered()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier }
      try {
        const tokens = await inTurn(() => openid.authorizationCodeGrant(configuration, url, checks))
        return tokens.claims() as openid.IDToken
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'a single sign-on was refused')
        if (isOutage(error)) throw new IssuerUnavailable({ cause: error })
        throw new SignOnRefused({ cause: error })
      }
    },
  }
}

/** The issuer's metadata, asked for once for all who log in at the same time, and again after an hour or a failure. */
function knownIssuer(settings: SignOnSettings, log: FastifyBaseLogger) {
  let known: { until: number; configuration: Promise<openid.Configuration> } | undefined
  return async () => {
    known = known && known.until > Date.now() ? known : undefined
    known ??= { until: Date.now() + METADATA_MS, configuration: discover(settings) }
    const asked = known
    try {
      return await asked.configuration
    } catch (error) {
      if (known === asked) known = undefined
      log.warn({ reason: reasonOf(error) }, troubleOf(error as Error))
      throw new IssuerUnavailable({ cause: error })
    }
  }
}

async function discover({ issuer, clientId, clientSecret, proxy }: SignOnSettings) {
  const client = { [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS }
  const configuration = await openid.discovery(issuer, clientId, client, withSecret(clientSecret), {
    timeout: TIMEOUT_SECONDS,
    [openid.customFetch]: boundedFetch(proxy),
    // The library does not check the signature of a token that came straight from the issuer unless asked to.
    execute: [
      openid.enableNonRepudiationChecks,
      ...(issuer.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
    ],
  })
  const body = configuration.serverMetadata()
  // The library would take an issuer of many tenants, such as Entra's `common`, each of which could give itself roles
  // here.
  if (!URL.canParse(body.issuer) || new URL(body.issuer).href !== issuer.href)
    throw new AnotherIssuer('another issuer', { cause: { attribute: 'issuer', body } })
  return configuration
}

/**
 * Sends the secret in the request's body, as most issuers accept, or in a header if the issuer does not list that.
 */
function withSecret(secret: string): openid.ClientAuth {
  const [inBody, inHeader] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)]
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_post']
    const add = methods.includes('client_secret_post') ? inBody : inHeader
    return add(server, ...request)
  }
}

class AnotherIssuer extends Error {
  readonly code = 'ANOTHER_ISSUER'
}

/** @param error the library's refusal of an issuer that calls itself otherwise, or ours, or another failure */
function troubleOf({ cause }: Error): string {
  const { attribute, body } = (cause ?? {}) as { attribute?: string; body?: { issuer?: string } }
  return attribute === 'issuer'
    ? `OIDC_ISSUER must be what the issuer calls itself, ${body?.issuer}`
    : 'the issuer of single sign-on does not answer as one'
}

function boundedFetch(proxy: OutboundProxy): openid.CustomFetch {
  const dispatcher = openAgent(proxy, {
    maxResponseSize: MAX_ANSWER_BYTES,
    connect: { timeout: TIMEOUT_SECONDS * 1_000 },
    pipelining: 0,
  })
  return async (url, options) => {
    const answer = await fetch(url, { ...(options as RequestInit), dispatcher })
    return answer as unknown as Response
  }
}

/** Whether the issuer or our settings are at fault; everything else the person can cause. */
function isOutage(error: unknown): boolean {
  // Only the code comes from the person.
  if (error instanceof openid.ResponseBodyError) return error.error !== 'invalid_grant'
  if (error instanceof openid.AuthorizationResponseError) return isIssuersFault(error)
  const { code = '' } = error as { code?: string }
  return !code.startsWith('OAUTH_') || OUTAGES.includes(code)
}

/** Entra refuses a scope that it does not know as `invalid_client`. */
const ISSUERS_FAULTS = [
  'server_error',
  'temporarily_unavailable',
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_response_type',
]
const isIssuersFault = ({ error }: openid.AuthorizationResponseError) =>
  ISSUERS_FAULTS.includes(error)

const OUTAGES = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  // How issuers refuse a secret that came in a header.
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
  // The ID token is encrypted, or signed with the secret instead of a key.
  'OAUTH_UNSUPPORTED_OPERATION',
  // The token was made a moment ago: one of the two clocks is wrong.
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  // The issuer has changed its keys, and is not asked for them twice within a minute.
  'OAUTH_KEY_SELECTION_FAILED',
]

/** The reason of an error, never its message, or its cause's, which may repeat claims. */
function reasonOf(error: unknown): string {
  if (error instanceof openid.ResponseBodyError) return error.error
  // Anybody may write anything else into the address of a callback.
  if (error instanceof openid.AuthorizationResponseError && isIssuersFault(error))
    return error.error
  const { code, name, cause } = error as Error & { code?: string | number }
  const reason = connectionTrouble(error as Error) ?? code
  if (typeof reason === 'string') return reason
  // The library's fetch says only that it has failed.
  return cause instanceof Error ? reasonOf(cause) : name
}
