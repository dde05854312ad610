import { type Client, isActive } from '../clients/client.ts'
import { clientById } from '../clients/find-client.ts'
import { domainRule } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'

export function refuseInactiveClient(ledger: Ledger, clientId: number): Client {
  const client = clientById(ledger, clientId)
  if (isActive(client)) return client
  const message = `The Client with id \`${client.id}\` is not active`
  throw domainRule('error.msg.client.not.active.exception', message, client.id)
}
