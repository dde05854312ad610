import { notFound } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Client } from './client.ts'

export function clientByExternalId(ledger: Ledger, externalId: string): Client {
  const client = clientOf(ledger, ledger.books.clientByExternalId.get(externalId))
  // Fineract looks up the id that it failed to find, so its message says "null".
  if (!client) throw notFound('error.msg.client.id.invalid', unknown(null), null)
  return client
}

export function clientById(ledger: Ledger, id: number): Client {
  const client = clientOf(ledger, id)
  if (!client) throw notFound('error.msg.client.id.invalid', unknown(id), id)
  return client
}

const clientOf = (ledger: Ledger, id: number | undefined): Client | undefined =>
  id === undefined ? undefined : ledger.books.clients.get(id)

const unknown = (id: number | null): string => `Client with identifier ${id} does not exist`
