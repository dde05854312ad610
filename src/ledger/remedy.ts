import { codeOf, isOfLedgerShape } from './error-body.ts'

const LACKS = 'the ledger’s user (LEDGER_USERNAME) lacks a permission'
const OF_USER: Record<string, string> = {
  'error.msg.not.authorized': LACKS,
  'error.msg.password.outdated':
    'the password of the ledger’s user has expired: change it at the ledger and in LEDGER_PASSWORD',
}

export const isOfUser = (code: string | null): boolean => code !== null && code in OF_USER

/** What to correct where the ledger, or whatever is at LEDGER_URL, refuses whatever we send. */
export function remedyOfRefusal(status: number, body: unknown): string {
  if (status === 401)
    return 'the ledger refuses its user or the password: correct LEDGER_USERNAME or LEDGER_PASSWORD'
  const ofUser = OF_USER[codeOf(body) ?? '']
  if (ofUser !== undefined) return ofUser
  if (status === 405 && isOfLedgerShape(body))
    return 'LEDGER_URL leads to an instance of the ledger that takes no such calls'
  if (status === 400)
    return isOfContainer(body)
      ? 'the ledger has no such tenant: correct LEDGER_TENANT'
      : 'something in front of the ledger refuses this call'
  return 'this is not the ledger’s API: correct LEDGER_URL, which must lead to it and end in /api/v1'
}

/** The ledger's server refuses an unknown tenant itself, before any code of the ledger's. */
function isOfContainer(body: unknown): boolean {
  return typeof (body as { timestamp?: unknown } | null)?.timestamp !== 'undefined'
}

const OF_CONNECTION: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_)/, 'the host in LEDGER_URL cannot be found'],
  [/^ECONNREFUSED$/, 'nothing listens at the host and port in LEDGER_URL'],
  [
    /^(UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/,
    'no way leads to the host in LEDGER_URL',
  ],
  [/ALTNAME/, 'the ledger’s certificate is for another host than the one in LEDGER_URL'],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'the ledger’s certificate is not valid today: renew it there',
  ],
  [
    /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    'nobody known here signed the ledger’s certificate: LEDGER_CA_FILE must name the file with its authority’s',
  ],
  [/^(ERR_SSL_|EPROTO)/, 'the port in LEDGER_URL does not speak TLS as https:// expects'],
]

/** @param code of the error with which no connection was made */
export function remedyOfConnection(code: string): string | undefined {
  return OF_CONNECTION.find(([codes]) => codes.test(code))?.[1]
}
