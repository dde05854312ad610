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
import { updateClient } from './update-client.ts'

const NOT_SUPPORTED = new Set(
  `reject undoRejection withdraw undoWithdrawal reactivate close assignStaff unassignStaff
  updateSavingsAccount proposeTransfer withdrawTransfer acceptTransfer rejectTransfer
  proposeAndAcceptTransfer`.split(/\s+/),
)

export function planForClients(ledger: Ledger, { method, path, query }: Request): Plan {
  if (path.length === 0) {
    if (method === 'GET') return read('GET clients', () => search(ledger, query))
    if (method === 'POST') return command('CREATE/CLIENT', body => createClient(ledger, body))
    throw containerError(405)
  }
  const target = targetIn(
    path,
    externalId => clientByExternalId(ledger, externalId),
    id => (method === 'GET' ? clientToRead(ledger, id) : clientById(ledger, id)),
  )
  const [more, ...rest] = target.rest
  if (more === undefined) return named(ledger, path, planForOne(ledger, method, query, target))
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
  method: string,
  query: URLSearchParams,
  { find }: Target<Client>,
): Plan {
  if (method === 'GET') return read('GET client', () => clientView(find()))
  if (method === 'PUT') {
    return command('UPDATE/CLIENT', body => updateClient(ledger, find(), body))
  }
  if (method === 'DELETE') throw notSupported('deleting a client')
  if (method !== 'POST') throw containerError(405)
  const name = query.get('command')
  if (name === 'activate') {
    return command('ACTIVATE/CLIENT', body => activateClient(ledger, find(), body))
  }
  if (name !== null && NOT_SUPPORTED.has(name)) throw notSupported(`the client command ${name}`)
  throw unsupportedCommand(name)
}

/** By a pattern, unlike the query for loans. */
function search(ledger: Ledger, query: URLSearchParams) {
  const externalId = query.get('externalId')
  const found = [...ledger.books.clients.values()].filter(clientsLike(externalId))
  return {
    totalFilteredRecords: found.length,
    pageItems: pageOf(found, query).map(clientView),
  }
}

function clientsLike(externalId: string | null): (client: Client) => boolean {
  if (externalId === null) return () => true
  refuseAttack(externalId)
  const pattern = likePattern(externalId)
  return client => client.externalId !== undefined && pattern.test(client.externalId)
}

function clientToRead(ledger: Ledger, id: number): Client {
  const client = ledger.books.clients.get(id)
  if (client) return client
  const code = 'error.msg.client.not.found.with.client.id'
  throw notFound(code, `Client not found with valuer ${id}.`, String(id))
}

function accounts(ledger: Ledger, client: Client) {
  const ids = [...(ledger.books.loansOfClient.get(client.id) ?? [])]
  const loans = ids.map(id => ledger.books.loans.get(id)).filter(loan => loan !== undefined)
  return loans.length > 0 ? { loanAccounts: loans.map(loanAccountView) } : {}
}
