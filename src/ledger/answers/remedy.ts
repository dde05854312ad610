import { codeOf, isOfLedgerShape } from './error-body.ts'

/** The fault and its remedy, in the words of `last_error`, the log and the check of the set-up. */
export type Cause = {
  check: 'reachable' | 'api_path' | 'tenant' | 'credentials' | 'password_expiry' | 'permissions'
  found: string
  remedy: string
}

export const inOneSentence = ({ found, remedy }: Omit<Cause, 'check'>) => `${found}: ${remedy}`

const LACKS_PERMISSION: Cause = {
  check: 'permissions',
  found: 'the ledger’s user (LEDGER_USERNAME) lacks a permission',
  remedy: 'add it to the user’s role at the ledger',
}

const LACKS_SECOND_FACTOR: Cause = {
  check: 'credentials',
  found: 'the ledger knows its user, but forbids it this call',
  remedy:
    'where the ledger requires two-factor authentication, give LEDGER_USERNAME the permission BYPASS_TWOFACTOR there',
}

const USER_CAUSES: Record<string, Cause> = {
  'error.msg.not.authorized': LACKS_PERMISSION,
  // Newer ledgers answer so to a user who may approve such a command but not issue it.
  'error.msg.maker.checker.checker.only.cannot.initiate': LACKS_PERMISSION,
  'error.msg.password.outdated': {
    check: 'password_expiry',
    found: 'the password of the ledger’s user has expired',
    remedy:
      'change it at the ledger and in LEDGER_PASSWORD, and tick “password never expires” there',
  },
}

export const isOfUser = (code: string | null): boolean => code !== null && code in USER_CAUSES

const REFUSES_LOGIN: Cause = {
  check: 'credentials',
  found: 'the ledger refuses its user or the password',
  remedy:
    'correct LEDGER_USERNAME or LEDGER_PASSWORD; the user may be locked or disabled at the ledger, or the ledger may accept OAuth2 alone, which LoanOps does not use',
}
/** Gateways that want a key or a token of their own answer so, too. */
const REFUSES_LOGIN_OR_IN_FRONT: Cause = {
  check: 'credentials',
  found: 'the ledger, or something in front of it, refuses this call without another login',
  remedy: `let LoanOps’s calls through there; otherwise ${REFUSES_LOGIN.remedy}`,
}

/** The cause for which the ledger, or whatever is at LEDGER_URL, refuses all that we send. */
export function causeOfRefusal(status: number, body: unknown): Cause {
  if (status === 401)
    return isOfContainer(body) || isOfLedgerShape(body) ? REFUSES_LOGIN : REFUSES_LOGIN_OR_IN_FRONT
  const ofUser = USER_CAUSES[codeOf(body) ?? '']
  if (ofUser !== undefined) return ofUser
  if (isForbidden(status, body)) return LACKS_SECOND_FACTOR
  if (status >= 300 && status < 400)
    return {
      check: 'api_path',
      found: 'LEDGER_URL leads to another address',
      remedy:
        'set LEDGER_URL to that address, perhaps https:// instead of http://; if it is a page for people to log in, let LoanOps’s calls through without a login',
    }
  if (status === 405 && isOfLedgerShape(body))
    return {
      check: 'api_path',
      found: 'the ledger’s instance at LEDGER_URL accepts no calls of this kind',
      remedy: 'set LEDGER_URL to an instance that does',
    }
  // Many firewalls know no PUT or DELETE by default.
  if (status === 405)
    return {
      check: 'api_path',
      found: 'something in front of the ledger lets no calls of this kind through',
      remedy: 'let GET, POST, PUT and DELETE pass there, or correct LEDGER_URL',
    }
  if (status === 400 && isOfContainer(body))
    return {
      check: 'tenant',
      found: 'the ledger has no such tenant',
      remedy: 'correct LEDGER_TENANT, which is “default” at most ledgers',
    }
  // The ledger's server takes what is sent as JSON, and what names no kind.
  const isChanged = isOfLedgerShape(body) || status === 415
  if (status === 400 || (status === 415 && isOfContainer(body)))
    return {
      check: 'api_path',
      found: `something in front of the ledger ${isChanged ? 'changes' : 'refuses'} this call`,
      remedy: 'correct LEDGER_URL, or let it pass LoanOps’s calls',
    }
  return isOfContainer(body) ? NOT_THE_API : NOT_THE_API_OR_REFUSED
}

const NOT_THE_API: Cause = {
  check: 'api_path',
  found: 'this is not the ledger’s API',
  remedy:
    'correct LEDGER_URL, which must lead to it and end in /api/v1, usually https://HOST:8443/fineract-provider/api/v1',
}
/** Firewalls have such pages, too. */
const NOT_THE_API_OR_REFUSED: Cause = {
  check: 'api_path',
  found: `${NOT_THE_API.found}, or something in front of it refuses this call`,
  remedy: `let this call pass there if others do; otherwise ${NOT_THE_API.remedy}`,
}

/** The ledger's server refuses an unknown tenant itself, before any code of the ledger's. */
const isOfContainer = (body: unknown): boolean =>
  typeof (body as { timestamp?: unknown } | null)?.timestamp !== 'undefined'

/** A permission that only commands or reads want is missed in the ledger's own shape. */
export const isForbidden = (status: number, body: unknown): boolean =>
  status === 403 && isOfContainer(body)

const CONNECTION_CAUSES: [codes: RegExp, found: string, remedy: string][] = [
  [/^(ENOTFOUND|EAI_)/, 'the ledger’s host cannot be found', 'correct the host in LEDGER_URL'],
  [
    /^ECONNREFUSED$/,
    'nothing listens at the ledger’s host and port',
    'correct them in LEDGER_URL, or start the ledger',
  ],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'the ledger’s host cannot be reached',
    'correct the host in LEDGER_URL, or look for a firewall in between',
  ],
  [
    /ALTNAME/,
    'the ledger’s certificate is for another host',
    'use the host in LEDGER_URL that the certificate names',
  ],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'the ledger’s certificate is not valid today',
    'renew it there',
  ],
  [
    /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    'the ledger’s certificate is signed by an unknown authority',
    'set LEDGER_CA_FILE to the file with that authority’s certificate',
  ],
  [
    /^(ERR_SSL_|EPROTO)/,
    'the ledger’s port does not speak TLS',
    'correct the port in LEDGER_URL, or write http:// there',
  ],
]

/** @param code of the error with which no connection was made */
export function causeOfConnection(code: string): Cause | undefined {
  const known = CONNECTION_CAUSES.find(([codes]) => codes.test(code))
  return known && { check: 'reachable', found: known[1], remedy: known[2] }
}

export const noProduct = (name: string, lender: string) => ({
  found: `the ledger has no loan product ${name} for ${lender}`,
  remedy: `create it there, or name another one as product of ${lender} in LENDERS_FILE`,
})

export const noPaymentType = (name: string) => ({
  found: `the ledger has no payment type ${name}`,
  remedy: 'create it there, or name another one as LEDGER_PAYMENT_TYPE',
})
