import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Trace } from '../../ops/traces.ts'
import type { Job } from '../../queue/job.ts'
import { startLoop } from '../../queue/loop.ts'
import { work } from '../../queue/queue.ts'
import { clientOf } from '../apis/gateway-apis.ts'
import { nameOf } from './accounts.ts'
import { backfillCounters } from './backfill-counters.ts'
import { type BackfillClaim, claimBackfill } from './claim-backfill.ts'
import { backfillQueue } from './queue.ts'
import { pendingReader } from './read-pending.ts'
import { requestScheduled } from './request-backfill.ts'
import { runBackfill } from './run-backfill.ts'

/** A dead worker sends no signal: with the lease of 10 s, its fetch continues within 13 s. */
const LOOK_EVERY_MS = 3_000

export async function runBackfills(context: WorkerContext): Promise<Job> {
  const { db, boss, config } = context
  const accounts = config.gatewayAccounts
  await noteAccounts(db, accounts)
  if (accounts.length === 0) {
    await boss.unschedule(backfillQueue.name)
    return { stop() {} }
  }
  await boss.schedule(
    backfillQueue.name,
    config.BACKFILL_CRON,
    { trigger: 'schedule' },
    { tz: config.LEDGER_TIMEZONE },
  )
  const loops = accounts.map(account => fetchFrom(account, context))
  const waking = await work(boss, backfillQueue, async jobs => {
    if (jobs.some(({ data }) => data?.trigger === 'schedule'))
      await db.transaction().execute(trx => requestScheduled(trx, accounts))
    for (const loop of loops) loop.wake()
  })
  return {
    async stop() {
      await Promise.all([waking.stop(), ...loops.map(loop => loop.stop())])
    },
  }
}

function fetchFrom(account: GatewayAccount, context: WorkerContext) {
  const { db, patient, config, metrics, traces, log } = context
  const { missedPayments } = metrics.of(backfillCounters)
  const { name, title } = config.gateways.find(one => one.name === account.gateway) ?? {
    name: account.gateway,
    title: account.gateway,
  }
  return startLoop(async stopping => ((await runNext(stopping)) ? 0 : LOOK_EVERY_MS), {
    everyMs: LOOK_EVERY_MS,
    onError: error =>
      log.error({ err: error, gateway: name }, 'payment fetch interrupted; it will be resumed'),
  })

  async function runNext(stopping: AbortSignal): Promise<boolean> {
    const claim = await claimBackfill(db, account)
    if (claim === undefined) return false
    crashPoint('backfill.claimed')
    const attributes = { 'loanops.backfill_id': claim.id, 'loanops.gateway': name }
    return traces
      .at(null)
      .span({ name: 'backfill', attributes }, trace => fetchOnce(claim, stopping, trace))
  }

  async function fetchOnce(claim: BackfillClaim, stopping: AbortSignal, trace: Trace) {
    const api = clientOf(account.gateway).open({
      account,
      version: config.GATEWAY_B_API_VERSION,
      follower: { trace, during: call => metrics.unanswered.during(name, call) },
    })
    const close = () => void api.close()
    stopping.addEventListener('abort', close)
    try {
      return await runBackfill({
        db: patient,
        api,
        account,
        lenders: config.lenders,
        claim,
        title,
        log,
        isStopping: () => stopping.aborted,
        readPending: pendingReader(patient, claim.id),
        onMissed: count => missedPayments.inc({ gateway: name }, count),
      })
    } finally {
      stopping.removeEventListener('abort', close)
      await api.close()
    }
  }
}

async function noteAccounts(db: Database, accounts: GatewayAccount[]): Promise<void> {
  const gateways = accounts.map(({ gateway }) => gateway)
  const names = accounts.map(nameOf)
  await db.transaction().execute(async trx => {
    await sql`
      delete from core.gateway_account
       where (gateway, account) not in (select * from unnest(${gateways}::text[], ${names}::text[]))`.execute(
      trx,
    )
    await sql`
      insert into core.gateway_account (gateway, account)
      select * from unnest(${gateways}::text[], ${names}::text[])
      on conflict do nothing`.execute(trx)
    await sql`
      update core.backfill
         set status = 'failed', ended_at = now(), claimed_until = null, last_error = 'its credentials are not set any more'
       where status = 'running' and (claimed_until is null or claimed_until < now())
         and (gateway, account) not in (select gateway, account from core.gateway_account)`.execute(
      trx,
    )
  })
}
