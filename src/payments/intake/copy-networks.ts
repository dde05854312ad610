import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'

/** Copies the networks to the database, where they decide which events count. */
export async function copyNetworks(db: Database, { lenders, gateways }: Config): Promise<void> {
  const networks = [...lenders.values()].flatMap(lender =>
    gateways.flatMap(({ name: gateway }) =>
      [...new Set(lender[gateway].allowedCidrs.map(asInet))].flatMap(network =>
        lender.products.map(product => ({ lender: lender.code, product, gateway, network })),
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
