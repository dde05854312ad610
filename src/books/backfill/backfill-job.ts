import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import type { Job } from '../../queue/job.ts'
import { type Run, workRuns } from '../../queue/run-job.ts'
import { gatewayOfAccount, withGatewayApi } from '../apis/open-gateway-api.ts'
import { readMinorUnits } from '../apis/read-minor-units.ts'
import { nameOf } from './accounts.ts'
import { backfillCounters } from './backfill-feature.ts'
import { type BackfillClaim, claimBackfill } from './claim-backfill.ts'
import { pendingReader } from './pending-reader.ts'
import { backfillQueue } from './queue.ts'
import { requestScheduled } from './request-backfill.ts'
import { runBackfill } from './run-backfill.ts'

export async function runBackfills(context: WorkerContext): Promise<Job> {
  const { db, boss, config, log } = context
  const accounts = config.gatewayAccounts
  await copyAccounts(db, accounts)
  if (accounts.length === 0) {
    await boss.unschedule(backfillQueue.name)
    return { stop() {} }
  }
  return workRuns(context, boss, {
    table: 'core.backfill',
    queue: backfillQueue,
    cron: config.BACKFILL_CRON,
    timeZone: config.LEDGER_TIMEZONE,
    keys: accounts,
    claim: account => claimBackfill(db, account),
    request: trx => requestScheduled(trx, accounts),
    run: (run, account) => fetchFrom(account, run, context),
    log,
  })
}

function fetchFrom(account: GatewayAccount, run: Run<BackfillClaim>, context: WorkerContext) {
  crashPoint('backfill.claimed')
  const { gateway } = account
  const attributes = { 'loanops.backfill_id': run.claim.id, 'loanops.gateway': gateway }
  return context.traces
    .at(null)
    .span({ name: 'backfill', attributes }, trace => fetchOnce(account, run, context, trace))
}

async function fetchOnce(
  account: GatewayAccount,
  run: Run<BackfillClaim>,
  { patient, config, metrics, log }: WorkerContext,
  trace: Trace,
): Promise<void> {
  const { gateway } = account
  const { missedPayments } = metrics.of(backfillCounters)
  const { claim, stopping } = run
  const majorUnits = await readMinorUnits(patient)
  const fetch = {
    db: patient,
    account,
    gateway: gatewayOfAccount(config, account),
    lenders: config.lenders,
    claim,
    log,
    readPending: pendingReader(patient, claim.id),
    onMissed: (count: number) => missedPayments.inc({ gateway }, count),
  }
  await withGatewayApi(config, { account, majorUnits, trace, metrics }, stopping, api =>
    runBackfill({ ...fetch, api }, run),
  )
}

async function copyAccounts(db: Database, accounts: GatewayAccount[]): Promise<void> {
  const gateways = accounts.map(({ gateway }) => gateway)
  const names = accounts.map(nameOf)
  await db.transaction().execute(async trx => {
    await sql`
      delete from core.gateway_account
       where (gateway, account) not in (
         select * from unnest(${gateways}::text[], ${names}::text[]))`.execute(trx)
    await sql`
      insert into core.gateway_account (gateway, account)
      select * from unnest(${gateways}::text[], ${names}::text[])
      on conflict do nothing`.execute(trx)
    await sql`
      update core.backfill
         set status = 'failed', ended_at = clock_timestamp(), claimed_until = null,
             last_error = 'the API credentials of this account are no longer in the settings'
       where status = 'running' and (claimed_until is null or claimed_until < now())
         and (gateway, account) not in (
           select gateway, account from core.gateway_account)`.execute(trx)
  })
}
