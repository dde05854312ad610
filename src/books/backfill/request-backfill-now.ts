import type { PgBoss } from 'pg-boss'
import { type Asker, audit } from '../../accounts/audit.ts'
import type { Config } from '../../config/config.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { DAY_MS } from '../../day.ts'
import { Conflict, FieldErrors, NotFound } from '../../http/problem.ts'
import { accountFor } from './accounts.ts'
import { requestBackfill } from './request-backfill.ts'

export const MAX_BACKFILL_DAYS = 62

type Context = { db: Database; boss: PgBoss; config: Config }

export async function requestBackfillNow(
  { db, boss, config }: Context,
  gateway: string,
  wanted: WindowRequest,
  asker: Asker,
): Promise<string> {
  const { from, to, lender = null } = wanted
  refuseWrong(config, gateway, wanted)
  const account = accountFor(config, gateway, lender)
  if (account === undefined)
    throw new Conflict(
      `There are no credentials for the API of ${gateway}${lender === null ? '' : ` and ${lender}`}`,
    )
  return inTransaction(db, async trx => {
    const id = await requestBackfill(trx, boss, account, { from, to, lender })
    const detail = { gateway, from, to, lender }
    await audit(trx, { ...asker, action: 'gateway.backfill', subject: id, detail })
    return id
  })
}

type WindowRequest = { from: string; to: string; lender?: string }

function refuseWrong({ gateways, lenders }: Config, gateway: string, wanted: WindowRequest): void {
  if (!gateways.some(({ name }) => name === gateway)) throw new NotFound(`No gateway ${gateway}`)
  const ms = Date.parse(wanted.to) - Date.parse(wanted.from)
  const errors = [
    ...(ms < 0 ? [{ path: '/to', message: 'must not be before from' }] : []),
    ...(ms > MAX_BACKFILL_DAYS * DAY_MS
      ? [{ path: '/to', message: `must be at most ${MAX_BACKFILL_DAYS} days after from` }]
      : []),
    ...(wanted.lender === undefined || lenders.has(wanted.lender)
      ? []
      : [{ path: '/lender', message: 'must be the code of a lender' }]),
  ]
  if (errors.length > 0) throw new FieldErrors('INVALID_PAYLOAD', errors)
}
