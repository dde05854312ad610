import { type Caller, sees } from '../access/caller.ts'
import { command, type Plan, type Request, read } from '../http/plan.ts'
import { containerError, notFound, notSupported, unsupportedCommand } from '../http/refusal.ts'
import { likePattern, pageOf, refuseAttack } from '../http/search.ts'
import { type Target, targetIn } from '../http/target.ts'
import { loanAccountView } from '../loans/loan-view.ts'
import type { Ledger } from '../storage/ledger.ts'
import { activateClient } from './activate-client.ts'
import type { Client } from './client.ts'
import { clientView } from './client-view.ts'
import { createClient } from './create-client.ts'
import { clientByExternalId, clientById } from './find-client.ts'
import { acceptTransfer, proposeTransfer } from './transfer-client.ts'
import { updateClient } from './update-client.ts'

const NOT_SUPPORTED = new Set(
  `reject undoRejection withdraw undoWithdrawal reactivate close assignStaff unassignStaff
  updateSavingsAccount withdrawTransfer rejectTransfer proposeAndAcceptTransfer`.split(/\s+/),
)

export function planForClients(ledger: Ledger, request: Request): Plan {
  const { method, path, caller } = request
  if (path.length === 0) {
    if (method === 'GET') return read('GET clients', () => search(ledger, request))
    if (method === 'POST')
      return command('CREATE/CLIENT', body => createClient(ledger, caller, body))
    throw containerError(405)
  }
  const target = targetIn(
    path,
    externalId => clientByExternalId(ledger, externalId),
    id => (method === 'GET' ? clientToRead(ledger, caller, id) : clientById(ledger, id)),
  )
  const [more, ...rest] = target.rest
  if (more === undefined) return named(ledger, path, planForOne(ledger, request, target))
  if (more !== 'accounts' || rest.length > 0) throw containerError(404)
  if (method !== 'GET') throw containerError(405)
  return read('GET client accounts', () => accounts(ledger, target.find()))
}

function named(ledger: Ledger, [first = '', second]: string[], plan: Plan): Plan {
  if (plan.kind !== 'command') return plan
  const known = ledger.books.clients.get(Number(first))?.externalId
  return { ...plan, of: 'client', externalId: first === 'external-id' ? second : known }
}

function planForOne(
  ledger: Ledger,
  { method, query, caller }: Request,
  { find }: Target<Client>,
): Plan {
  if (method === 'GET') return read('GET client', () => clientView(ledger, find()))
  if (method === 'PUT')
    return command('UPDATE/CLIENT', body => updateClient(ledger, caller, find(), body))
  if (method === 'DELETE') throw notSupported('deleting a client')
  if (method !== 'POST') throw containerError(405)
  const name = query.get('command')
  if (name === 'activate')
    return command('ACTIVATE/CLIENT', body => activateClient(ledger, find(), body))
  if (name === 'proposeTransfer')
    return command('PROPOSETRANSFER/CLIENT', body => proposeTransfer(ledger, find(), body))
  if (name === 'acceptTransfer')
    return command('ACCEPTTRANSFER/CLIENT', body => acceptTransfer(ledger, find(), body))
  if (name !== null && NOT_SUPPORTED.has(name)) throw notSupported(`the client command ${name}`)
  throw unsupportedCommand(name)
}

/** The external id is a pattern here, unlike in the query for loans. */
function search(ledger: Ledger, { query, caller }: Request) {
  const isLike = clientsLike(query.get('externalId'))
  const found = [...ledger.books.clients.values()].filter(
    client => isLike(client) && sees(ledger, caller, client.officeId),
  )
  const pageItems = pageOf(found, query).map(client => clientView(ledger, client))
  return { totalFilteredRecords: found.length, pageItems }
}

function clientsLike(externalId: string | null): (client: Client) => boolean {
  if (externalId === null) return () => true
  refuseAttack(externalId)
  const pattern = likePattern(externalId)
  return client => client.externalId !== undefined && pattern.test(client.externalId)
}

/** One of another office is hidden. */
function clientToRead(ledger: Ledger, caller: Caller, id: number): Client {
  const client = ledger.books.clients.get(id)
  if (client && sees(ledger, caller, client.officeId)) return client
  const code = 'error.msg.client.not.found.with.client.id'
  throw notFound(code, `Client not found with valuer ${id}.`, String(id))
}

function accounts(ledger: Ledger, client: Client) {
  const ids = [...(ledger.books.loansOfClient.get(client.id) ?? [])]
  const loans = ids.map(id => ledger.books.loans.get(id)).filter(loan => loan !== undefined)
  return loans.length > 0 ? { loanAccounts: loans.map(loan => loanAccountView(ledger, loan)) } : {}
}
