import { capitalised } from '../../text/capitalised.ts'
import type { Received } from '../answers/answer.ts'
import { connectionReason } from '../answers/connection-error.ts'
import { codeOf, isOfLedgerShape } from '../answers/error-body.ts'
import { type Cause, causeOfConnection, causeOfRefusal, isForbidden } from '../answers/remedy.ts'
import type { CheckedSettings, Found } from './finding.ts'

/** The steps in the order in which a call meets them: what comes after a wrong one is unknown. */
export const STEPS = ['reachable', 'api_path', 'tenant', 'credentials', 'password_expiry'] as const
type Step = (typeof STEPS)[number]

export const EXPECTED: Record<Step, string> = {
  reachable: 'the ledger answers at LEDGER_URL',
  api_path: 'the ledger’s API is at the path of LEDGER_URL',
  tenant: 'LEDGER_TENANT is a tenant of the ledger',
  credentials: 'the ledger knows LEDGER_USERNAME with LEDGER_PASSWORD',
  password_expiry: 'the password of LEDGER_USERNAME does not expire',
}

type Urls = Pick<CheckedSettings, 'LEDGER_URL' | 'LEDGER_TENANT' | 'LEDGER_USERNAME'>
const SETTING: Record<Step, keyof Urls> = {
  reachable: 'LEDGER_URL',
  api_path: 'LEDGER_URL',
  tenant: 'LEDGER_TENANT',
  credentials: 'LEDGER_USERNAME',
  password_expiry: 'LEDGER_USERNAME',
}

type Trouble = { step: Step; finding: Found }

/** The finding of the first call. @returns undefined if it got through to the ledger's own checks of a request */
export function troubleInAnswer(answer: Received | Error, settings: Urls): Trouble | undefined {
  const cause = answer instanceof Error ? causeOf(answer) : causeIn(answer)
  // Permissions have a check of their own, which names them.
  if (cause === undefined || cause.check === 'permissions') return undefined
  const { check: step, found, remedy } = cause
  const seen = answer instanceof Error ? connectionReason(answer) : `HTTP ${answer.status}`
  const setting = SETTING[step]
  return {
    step,
    finding: {
      state: cause === SILENT ? 'unknown' : 'breaks',
      found: `${found} (${seen}; ${setting} is ${settings[setting]})`,
      remedy: capitalised(remedy),
    },
  }
}

function causeOf(error: Error): Cause {
  const reason = connectionReason(error)
  if (/^(UND_ERR_SOCKET|ECONNRESET|HPE_)/.test(reason)) return CLOSED
  return causeOfConnection(reason) ?? NO_ANSWER
}

/** What is not the ledger's API answers so. A page with any other refusal comes from something in front of the ledger. */
const AT_A_WRONG_ADDRESS = [400, 404, 405, 415]

function causeIn({ status, body }: Received): Cause | undefined {
  if ([429, 502, 503, 504].includes(status)) return NOT_THE_LEDGER
  const isOfLedger = isOfLedgerShape(body)
  if (status === 500 && !isOfLedger) return SILENT
  const isOutdated = codeOf(body) === 'error.msg.password.outdated'
  if (status === 401 || isOutdated || isForbidden(status, body)) return causeOfRefusal(status, body)
  if (isOfLedger || (status === 200 && Array.isArray(body))) return undefined
  return status < 400 || AT_A_WRONG_ADDRESS.includes(status)
    ? causeOfRefusal(status, body)
    : NOT_THE_LEDGER
}

const CLOSED: Cause = {
  check: 'reachable',
  found: 'the ledger’s host closes the connection',
  remedy:
    'check whether LEDGER_URL must begin with https:// or http://, and which proxy is in front of the ledger',
}
const NO_ANSWER: Cause = {
  check: 'reachable',
  found: 'no answer from the ledger’s host',
  remedy:
    'look whether a firewall is between LoanOps and the host in LEDGER_URL, and whether the ledger runs',
}
const NOT_THE_LEDGER: Cause = {
  check: 'reachable',
  found: 'something answers, but not the ledger',
  remedy:
    'look whether the ledger runs and has finished its start, and whether a proxy before it limits or refuses LoanOps',
}
const SILENT: Cause = {
  check: 'api_path',
  found: 'an error without the ledger’s own words',
  remedy: 'look into the ledger’s own log',
}
