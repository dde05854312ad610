import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Lender } from '../lenders.ts'

/** Tells the database the networks of the settings: there it is judged which events count. */
export async function allowNetworks(
  db: Database,
  lenders: ReadonlyMap<string, Lender>,
): Promise<void> {
  const networks = [...lenders.values()].flatMap(({ code: lender, product, ...trusts }) =>
    Object.entries(trusts).flatMap(([gateway, { allowedCidrs }]) =>
      [...new Set(allowedCidrs.map(asInet))].map(network => ({
        lender,
        product,
        gateway,
        network,
      })),
    ),
  )
  await sql`select core.allow_networks(${JSON.stringify(networks)}::jsonb)`.execute(db)
}

/** PostgreSQL knows no interface behind an address, and no prefix with a leading zero. */
function asInet(cidr: string): string {
  const [address = '', prefix] = cidr.replace(/%[^/]*/, '').split('/')
  return prefix === undefined ? address : `${address}/${Number(prefix)}`
}
