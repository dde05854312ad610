import { containerBody, type Interference, ledgerBody } from '../ledger/proxy.ts'

/** The first answer to a write. */
export type FirstAnswer = Omit<Interference, 'of' | 'on'>

/** Sent before any processing: the write cannot have reached the ledger. */
export const TURNED_AWAY: Record<string, FirstAnswer> = {
  'a lock by the close of business': {
    status: 409,
    body: ledgerBody(409, 'error.msg.loan.locked'),
  },
  'a 429': { status: 429, body: 'slow down' },
  'a 401': { status: 401, body: containerBody(401) },
  'a 503 of the ledger’s own': {
    status: 503,
    body: ledgerBody(503, 'error.msg.sheduler.job.currently.running'),
  },
  'a 403 for our user': { status: 403, body: ledgerBody(403, 'error.msg.not.authorized') },
}
/** Each may come before or after the ledger has applied the write. */
export const AMBIGUOUS: Record<string, FirstAnswer> = {
  'no answer in time': { hangs: true },
  'a 503 of a proxy': { status: 503, body: '' },
  'a 500 of the container': { status: 500, body: containerBody(500) },
  'a 502': { status: 502, body: '' },
  'a 425': { status: 425, body: {} },
  'a reset': {},
  'a 400 of the container': { status: 400, body: containerBody(400) },
  'a 504': { status: 504, body: '' },
  'a 404 of the container': { status: 404, body: containerBody(404) },
  'a 200 that breaks off': { status: 200, body: '{"officeId":1,"clientId":1,"resourceId":1,"loa' },
  'the answer to another call': {
    status: 200,
    body: { officeId: 1, clientId: 1, loanId: 1, resourceId: 1, resourceExternalId: 'another' },
  },
}
/** What the ledger stores under the key of a write that it rolled back. */
const ROLLED_BACK: Record<string, FirstAnswer> = {
  'a collision': { status: 409, body: ledgerBody(409, 'error.msg.platform.service.conflict') },
  'a 500 of the ledger’s own': {
    status: 500,
    body: ledgerBody(500, 'error.msg.platform.server.side.error'),
  },
}
/** The same answers, sent by something that keeps the write from reaching the ledger. */
export const BEFORE = { ...TURNED_AWAY, ...AMBIGUOUS, ...ROLLED_BACK }
