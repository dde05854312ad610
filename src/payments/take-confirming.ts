import { sql } from 'kysely'
import type { Config } from '../config/config.ts'
import type { Lender } from '../config/lenders.ts'
import type { Database } from '../database/database.ts'
import type { Gateway } from './gateways/gateways.ts'
import { secretsKey } from './secrets-key.ts'

export async function takeConfirming(
  db: Database,
  { gateways, lenders }: Pick<Config, 'gateways' | 'lenders'>,
): Promise<void> {
  const all = [...lenders.values()]
  const settings = gateways.flatMap(({ name: gateway }) =>
    all
      .filter(lender => lender[gateway].confirm)
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
  await sql`select core.take_confirming(${JSON.stringify(settings)}::jsonb)`.execute(db)
}

function sharers(all: Lender[], lender: Lender, gateway: Gateway): string[] {
  const key = secretsKey(lender, gateway)
  return all.filter(one => secretsKey(one, gateway) === key).map(({ code }) => code)
}
