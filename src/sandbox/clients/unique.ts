import { integrityIssue } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Client } from './client.ts'

const COLUMNS: [keyof Client, number][] = [
  ['firstname', 50],
  ['middlename', 50],
  ['lastname', 50],
  ['emailAddress', 150],
]

/** Constraints of Fineract's database, which come after all its own checks. */
export function checkUnique(ledger: Ledger, client: Client): void {
  const { books } = ledger
  taken(books.clientByExternalId, 'externalId', client.externalId, client.id)
  taken(books.clientByMobileNo, 'mobileNo', client.mobileNo, client.id)
  for (const [column, length] of COLUMNS) {
    if (String(client[column] ?? '').length <= length) continue
    const message = `Unknown data integrity issue with resource: ERROR: value too long for type character varying(${length})`
    throw integrityIssue('error.msg.client.unknown.data.integrity.issue', message)
  }
}

function taken(
  index: Map<string, number>,
  name: string,
  value: string | undefined,
  id: number,
): void {
  if (value === undefined || (index.get(value) ?? id) === id) return
  const message = `Client with ${name} \`${value}\` already exists`
  throw integrityIssue(`error.msg.client.duplicate.${name}`, message, name, value)
}
