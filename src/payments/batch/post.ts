import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { crashPoint } from '../../crash-point.ts'
import { LOCKS } from '../../database/locks.ts'
import { newOperation } from '../../engine/accept.ts'
import { FIRST_ID } from '../../ids.ts'
import { lockSettling } from '../lock-settling.ts'
import { repaymentIntake } from '../repayment/repayment-intake.ts'
import { startPosting } from '../repayment/start-posting.ts'
import { dueReversals, startReversals } from '../repayment/start-reversals.ts'
import type { Batch } from './batch.ts'

/** The payments of one transaction, which delays the intake of their loans. */
const PAYMENTS_AT_ONCE = 500
/** A repayment takes about this long. The pause doubles, because with ten thousand in flight the query is expensive. */
const FIRST_PAUSE_MS = 25
const MAX_PAUSE_MS = 500

export async function post(batch: Batch): Promise<void> {
  let started: number
  let hasWaited: boolean
  while ((await retryRefused(batch)) === PAYMENTS_AT_ONCE) batch.check()
  // A payment has one reversal at a time, and only one of several payments of the same money is on its way at a time, so
  // the end of one can make the next one due.
  do {
    started = await postAll(batch)
    started += await reverseDue(batch)
    hasWaited = await untilEnded(batch)
  } while (started > 0 || hasWaited)
}

async function postAll(batch: Batch): Promise<number> {
  let all = 0
  let page: Page | undefined
  do {
    page = await postPage(batch, page)
    all += page.posted
    batch.check()
  } while (page.read === PAYMENTS_AT_ONCE)
  return all
}

/** @returns whether anything was under way */
async function untilEnded(batch: Batch): Promise<boolean> {
  let ms = FIRST_PAUSE_MS
  for (; await isUnderWay(batch); ms = Math.min(MAX_PAUSE_MS, 2 * ms)) {
    await sleep(ms)
    batch.check()
  }
  return ms > FIRST_PAUSE_MS
}

async function retryRefused({ db, claim }: Batch): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select core.retry_refused(${claim.id}, ${PAYMENTS_AT_ONCE})::integer as count`.execute(db)
  return rows[0]?.count ?? 0
}

/** The payments that were read together, and the last of them. */
type Page = { posted: number; read: number; last: Place }

type Place = { paidAt: string; id: string }

const START: Place = { paidAt: '-infinity', id: FIRST_ID }

/**
 * Posts the payments after the last page, in order of payment, because the operations of a loan run in the order in which they
 * are inserted. Those that wait for a twin are passed over, so that each payment is read once.
 */
async function postPage(
  { db, boss, claim, traceparent }: Batch,
  { last: after }: Pick<Page, 'last'> = { last: START },
): Promise<Page> {
  const page = await db.transaction().execute(async trx => {
    // A worker that has lost its run may still be here, with the twin of a payment.
    await sql`select pg_advisory_xact_lock(${LOCKS.postings})`.execute(trx)
    const { rows } = await sql<Place & { loan: string; isDue: boolean }>`
      select id, external_loan_id as loan, coalesce(paid_at, 'infinity')::text as "paidAt", not core.awaits_twin(t) as "isDue"
        from core.transaction t
       where state = 'waiting' and unconfirmed is null and kind = 'payment' and batch_id is distinct from ${claim.id}
         and (coalesce(paid_at, 'infinity'), id) > (${after.paidAt}::timestamptz, ${after.id}::uuid)
       order by paid_at, id
       limit ${PAYMENTS_AT_ONCE} for update skip locked`.execute(trx)
    const operations = rows
      .filter(({ isDue }) => isDue)
      .map(({ id, loan }) =>
        newOperation(repaymentIntake, { transaction_id: id, external_loan_id: loan }, null, {
          traceparent,
        }),
      )
    if (operations.length > 0) await startPosting(trx, boss, operations, claim.id)
    return { posted: operations.length, read: rows.length, last: rows.at(-1) ?? after }
  })
  crashPoint('batch.posting')
  return page
}

async function reverseDue({ db, boss, claim, traceparent }: Batch): Promise<number> {
  const started = await db.transaction().execute(async trx => {
    // Nobody else starts a reversal of the same payment, or records that its repayment is undone, meanwhile.
    await lockSettling(trx)
    const due = await dueReversals(trx, claim.id, PAYMENTS_AT_ONCE)
    return startReversals(trx, boss, due, { batch: claim.id, traceparent })
  })
  if (started > 0) crashPoint('batch.reversing')
  return started
}

/**
 * Whether repayments are under way, except those that wait for the ledger or a pause: the engine retries these, and
 * the batch need not wait for them.
 */
async function isUnderWay({ db, claim }: Batch): Promise<boolean> {
  const { rows } = await sql<{ isUnderWay: boolean }>`
    select exists (
      select from core.transaction t
        join loanops.operation o on o.id = t.operation_id
       where t.batch_id = ${claim.id} and t.state = 'posting'
         and not (o.claimed_by is null and exists (select from ops.ledger_pause))
         and not exists (
           select from loanops.operation parked
            where parked.subject = o.subject and parked.status = 'processing' and parked.seq <= o.seq
              -- Not now(): what became due after this statement began does not wait.
              and (parked.waiting_for is not null
                   or parked.next_try_at > clock_timestamp()))) as "isUnderWay"`.execute(db)
  return rows[0]?.isUnderWay === true
}
