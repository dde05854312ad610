import type { Received } from '../answer.ts'
import { isOfTls, reasonOf } from '../connection-error.ts'
import { codeOf, isOfLedgerShape } from '../error-body.ts'
import type { CheckedSettings, Found } from './finding.ts'

/** In the order in which a call meets them: what comes after one that is wrong is unknown. */
export const STEPS = ['reachable', 'api_path', 'tenant', 'credentials', 'password_expiry'] as const
type Step = (typeof STEPS)[number]

export const EXPECTED: Record<Step, string> = {
  reachable: 'the ledger answers at LEDGER_URL',
  api_path: 'the ledger’s API is at the path of LEDGER_URL',
  tenant: 'LEDGER_TENANT is a tenant of the ledger',
  credentials: 'the ledger knows LEDGER_USERNAME with LEDGER_PASSWORD',
  password_expiry: 'the password of LEDGER_USERNAME does not expire',
}

type Trouble = { step: Step; finding: Found }
type Urls = Pick<CheckedSettings, 'LEDGER_URL' | 'LEDGER_TENANT' | 'LEDGER_USERNAME'>

/** What the first call shows. @returns undefined if it got through to the ledger’s own checks of a request */
export function troubleIn(answer: Received | Error, settings: Urls): Trouble | undefined {
  if (answer instanceof Error) return breaks('reachable', ...unreachable(answer, settings))
  const { status, body } = answer
  const found = `HTTP ${status}`
  const isOfLedger = isOfLedgerShape(body)
  if ([429, 502, 503, 504].includes(status))
    return breaks(
      'reachable',
      `${found}: something answers, but not the ledger`,
      'Look whether the ledger runs and has finished its start, and whether a proxy before it limits LoanOps',
    )
  if (status >= 300 && status < 400)
    return breaks(
      'api_path',
      `${found}: LEDGER_URL leads to another address`,
      'Set LEDGER_URL to the address to which it redirects, perhaps https:// instead of http://',
    )
  if (status === 401)
    return breaks(
      'credentials',
      `${found}: the ledger does not accept LEDGER_USERNAME (${settings.LEDGER_USERNAME}) with LEDGER_PASSWORD`,
      'Correct LEDGER_USERNAME and LEDGER_PASSWORD, and look whether the user is locked or disabled at the ledger',
    )
  if (codeOf(body) === 'error.msg.password.outdated')
    return breaks(
      'password_expiry',
      'the password of LEDGER_USERNAME has expired',
      'Set a new password at the ledger and in LEDGER_PASSWORD, and tick “password never expires” for this user',
    )
  if (isOfLedger || (status === 200 && Array.isArray(body))) return undefined
  return withoutTheLedger(status, settings)
}

/** An answer that is not the ledger's own. */
function withoutTheLedger(status: number, { LEDGER_URL, LEDGER_TENANT }: Urls): Trouble {
  if (status === 400)
    return breaks(
      'tenant',
      `HTTP 400: the ledger has no tenant ${LEDGER_TENANT}`,
      'Set LEDGER_TENANT to the identifier of the ledger’s tenant, by default “default”',
    )
  if (status === 500)
    return {
      step: 'api_path',
      finding: { state: 'unknown', found: 'HTTP 500 without the ledger’s own words', remedy: LOG },
    }
  return breaks(
    'api_path',
    `HTTP ${status}, and not from the ledger’s API: ${LEDGER_URL} leads elsewhere`,
    'Set LEDGER_URL up to and including /api/v1, usually https://HOST:8443/fineract-provider/api/v1',
  )
}

const LOG = 'Look into the ledger’s own log'

function unreachable(error: Error, { LEDGER_URL }: Urls): [found: string, remedy: string] {
  const { host } = new URL(LEDGER_URL)
  const reason = reasonOf(error)
  if (isOfTls(reason))
    return [
      `the certificate of ${host} is not trusted (${reason})`,
      'Set LEDGER_CA_FILE to the certificate of the authority that signed the ledger’s, and use the host’s name as the certificate has it',
    ]
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(reason))
    return [`no host has the name of ${host} (${reason})`, 'Correct the host in LEDGER_URL']
  if (reason === 'ECONNREFUSED')
    return [
      `nothing listens at ${host} (${reason})`,
      'Correct host and port in LEDGER_URL, or start the ledger',
    ]
  if (/^(EPROTO|UND_ERR_SOCKET|ECONNRESET|HPE_)/.test(reason))
    return [
      `${host} closes the connection (${reason})`,
      'Look whether LEDGER_URL must begin with https:// or http://, and what stands before the ledger',
    ]
  return [
    `no answer from ${host} (${reason})`,
    'Look whether a firewall is between LoanOps and the ledger, and whether the ledger runs',
  ]
}

function breaks(step: Step, found: string, remedy: string): Trouble {
  return { step, finding: { state: 'breaks', found, remedy } }
}
