import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { GatewayTrust, Lender } from '../config/lenders.ts'
import type { Database } from '../database/database.ts'
import type { GatewayName } from './gateways/gateways.ts'
import { secretsKey } from './secrets-key.ts'

/** Copies to the database which lenders' events are to be confirmed, and whose refunds are booked automatically. */
export async function copyConfirmation(
  db: Database,
  { gateways, lenders }: Pick<Config, 'gateways' | 'lenders'>,
): Promise<void> {
  const all = [...lenders.values()]
  const confirming = settingsOf(trust => trust.confirm)
  await sql`select core.copy_confirming(${JSON.stringify(confirming)}::jsonb)`.execute(db)
  const reversing = settingsOf(trust => trust.reversals === 'automatic')
  await sql`select core.copy_reversing(${JSON.stringify(reversing)}::jsonb)`.execute(db)

  function settingsOf(isWanted: (trust: GatewayTrust) => boolean) {
    return gateways.flatMap(({ name: gateway }) =>
      all
        .filter(lender => isWanted(lender[gateway]))
        .flatMap(lender =>
          lender.products.map(product => ({
            lender: lender.code,
            product,
            gateway,
            account: lender[gateway].api === undefined ? '' : lender.code,
            proved_by: sharers(all, lender, gateway),
          })),
        ),
    )
  }
}

function sharers(all: Lender[], lender: Lender, gateway: GatewayName): string[] {
  const key = secretsKey(lender, gateway)
  return all.filter(one => secretsKey(one, gateway) === key).map(({ code }) => code)
}
