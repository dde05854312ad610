import { sql } from 'kysely'
import type { Lender } from '../../config/lenders.ts'
import type { Database } from '../../database/database.ts'

/** Copies the networks to the database, where they decide which events count. */
export async function copyNetworks(
  db: Database,
  lenders: ReadonlyMap<string, Lender>,
): Promise<void> {
  const networks = [...lenders.values()].flatMap(
    ({ code: lender, product: _, products, terms: _terms, isNamed: _named, ...trusts }) =>
      Object.entries(trusts).flatMap(([gateway, { allowedCidrs }]) =>
        [...new Set(allowedCidrs.map(asInet))].flatMap(network =>
          products.map(product => ({ lender, product, gateway, network })),
        ),
      ),
  )
  await sql`select core.copy_networks(${JSON.stringify(networks)}::jsonb)`.execute(db)
}

/** PostgreSQL accepts no zone id in an address, and no leading zero in a prefix length. */
function asInet(cidr: string): string {
  const [address = '', prefix] = cidr.replace(/%[^/]*/, '').split('/')
  return prefix === undefined ? address : `${address}/${Number(prefix)}`
}
