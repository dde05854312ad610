import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { fieldError, invalid } from '../http/refusal.ts'
import { officeById } from '../reference/offices.ts'
import { type Ledger, today } from '../storage/ledger.ts'
import { type Client, clientResult } from './client.ts'
import { checkDates } from './client-dates.ts'

const KEYS = new Set(['activationDate', 'dateFormat', 'locale'])

export function activateClient(ledger: Ledger, client: Client, body: Body) {
  refuseUnknownKeys(body, KEYS)
  const check = checks('client')
  const activatedOn = dateOf(body, 'activationDate')
  check.required('activationDate', activatedOn)
  check.throwIfAny()
  if (client.active) {
    const message = 'Cannot activate client. Client is already active.'
    const code = 'error.msg.clients.already.active'
    throw invalid([fieldError(code, 'activationDate', message, activatedOn)])
  }
  const activated = { ...client, active: true, activatedOn }
  checkDates(activated, officeById(ledger, client.officeId), today(ledger))
  ledger.books.saveClient(activated)
  return clientResult(client)
}
