import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { leaseEnd } from '../../database/lease.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { TOO_EARLY } from '../../ledger/answers/answer.ts'
import type { Data, Kept, Resolution, WaitingFor } from '../operation.ts'
import { ORIGINS, type Origin, takingEqualAsDone } from '../origin.ts'
import { clientsUnfinished, headsOf, isUnfinished, released } from './heads.ts'
import { mayEndUnwritten, mayRun } from './may-run.ts'
import { loansReadyAfter } from './ready-loans.ts'

export type Claim = {
  id: string
  /** The operation's place in the order of acceptance, a bigint. */
  seq: string
  operationType: string
  origin: Origin
  /** Whether the operation succeeds if the ledger refuses it but already has what it asks for. */
  takesEqualAsDone: boolean
  subject: string
  externalId: string
  data: Data
  /** The column `attempt`, which fences writes as the number of a run's claim does. */
  number: number
  /** Nothing may be written until the sending is recorded. */
  isSent: boolean
  lookFirst: boolean
  /** A call may have been sent, and nothing shows that it has ended. */
  mayStillRun: boolean
  isTried: boolean
  unknownSince: Date | null
  waitingFor: WaitingFor | null
  lastError: string | null
  keyGeneration: number
  seen: unknown
  kept: Kept | null
  resolution: Resolution | null
  /** A pause of the ledger does not keep the operation from ending. */
  mayEndUnwritten: boolean
  claimedAt: Date
  /** The ledger was paused when the operation was claimed: it may end without a write, but not write. */
  isPaused: boolean
  acceptedAt: Date
  /** The trace context in which the operation was accepted; for a payment, its batch's. */
  traceparent: string | null
  /** The key under which the ledger answers "still processing", and since when. */
  tooEarly: { key: string; since: string } | null
  /** The key of the last write, since when it is in use, and the status that it answered last. */
  sent: { key: string; since: string; last: number | null } | null
}

export type ClaimKey = Pick<Claim, 'id' | 'number'>
export const claimKey = ({ id, number }: ClaimKey) => `${id}:${number}`

/** The operation was cancelled before its start, or the lease was lost: the outcome of its attempt is not recorded. */
export class ClaimGone extends Error {}

/**
 * @param startable origins whose claims start their attempts at once; those of the types in `writingAtOnce` count as sent
 * @param endedClients client subjects whose operation has just ended
 * @returns the claims, and the subjects of loans that waited for `endedClients`
 */
export async function claimHeads(
  db: Database,
  worker: string,
  subjects: string[],
  { startable = ORIGINS, writingAtOnce = [], endedClients = [] }: ClaimOptions = {},
): Promise<{ claims: Claim[]; readyLoans: string[] }> {
  if (subjects.length + endedClients.length === 0) return claimedIn([])
  const { rows } = await sql<Claim & { readyLoan: string | null }>`${prepared('claim_heads')}
    with head as (
      select o.id
        from ${headsOf(subjects)}
       cross join lateral (
         select id from loanops.operation o
          where o.id = oldest.id and ${isUnfinished}
            and o.next_try_at <= now()
            and o.claimed_by is null
            and not exists (${clientsUnfinished('o')})
            and ${mayRun('o')}
         -- Whoever has locked the row is claiming or finishing it, and then goes on to the next one.
            for update skip locked) o
    ), claimed as (
      update loanops.operation o
         set claimed_by = ${worker}, claimed_at = now(), claimed_until = ${leaseEnd},
             attempt = o.attempt + 1,
             unstarted_attempt = case when o.origin <> all(${startable}) then o.attempt + 1 end,
             sent_attempt = case when o.origin = any(${startable}) and o.operation_type = any(${writingAtOnce})
                            then o.attempt + 1 end
       where o.id = any(array(select id from head))
      returning o.*
    ), ready as (${loansReadyAfter(endedClients)}
    )
    select id, seq, operation_type as "operationType", origin, origin = any(${takingEqualAsDone}) as "takesEqualAsDone",
           claimed.subject, external_id as "externalId", data, attempt as number,
           sent_attempt is not distinct from attempt as "isSent", look_first as "lookFirst",
           may_still_run as "mayStillRun",
           -- A claim that was handed back had no attempt.
           attempt > 1 and (attempts > 0 or exists (
             select from loanops.operation_attempt where operation_id = claimed.id offset 0)) as "isTried",
           unknown_since as "unknownSince", waiting_for as "waitingFor", last_error as "lastError",
           key_generation as "keyGeneration", seen, kept, resolution,
           ${mayEndUnwritten('claimed')} as "mayEndUnwritten", claimed_at as "claimedAt", accepted_at as "acceptedAt",
           exists (select from ops.ledger_pause) as "isPaused", traceparent,
           ${tooEarlyKey} as "tooEarly", ${sentKey} as sent,
           ready.subject as "readyLoan"
      -- The statement returns claims and loans together: each row is one of the two.
      from claimed full join ready on false`.execute(db)
  return claimedIn(rows)
}

/** The idempotency key of the operation's last attempt that meets the condition, and since when it is in use. */
const lastKey = (
  isAsked: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
) => sql`case when ${isAsked} then (
             select json_build_object('key', idempotency_key, 'since', min(started_at),
                                      'last', (array_agg(http_status order by attempt desc))[1])
               from loanops.operation_attempt
              where operation_id = claimed.id and ${condition}
              group by idempotency_key
              order by max(attempt) desc limit 1) end`

const tooEarlyKey = lastKey(
  sql`unknown_since is not null`,
  sql`http_status = ${TOO_EARLY} and idempotency_key is not null`,
)
const sentKey = lastKey(sql`may_still_run`, sql`idempotency_key is not null`)

const claimedIn = (rows: (Claim & { readyLoan: string | null })[]) => ({
  claims: rows.filter(({ readyLoan }) => readyLoan === null),
  readyLoans: rows.flatMap(({ readyLoan }) => readyLoan ?? []),
})

type ClaimOptions = {
  startable?: readonly Origin[]
  writingAtOnce?: readonly string[]
  endedClients?: string[]
}

/** Records that the attempts of these claims have started, and that their writes may be sent now. */
export async function recordSendings(
  db: Database,
  worker: string,
  claims: (ClaimKey & { kept?: Kept | null })[],
): Promise<ClaimKey[]> {
  const { rows } = await sql<ClaimKey>`${prepared('record_sendings')}
    with starting as (
      select o.id, claim.kept
        -- Whatever waits for locks on several operations takes them in this order: there is no deadlock.
        from (select * from unnest((select ${claims.map(({ id }) => id)}::uuid[]),
                                   (select ${claims.map(({ number }) => number)}::integer[]),
                                   (select ${claims.map(({ kept }) => kept && JSON.stringify(kept))}::text[]))
                as given (id, number, kept) order by id) claim
       cross join lateral (
         select id from loanops.operation o
          where o.id = claim.id and o.attempt = claim.number and o.claimed_by = ${worker} and ${isUnfinished}
            for no key update) o
    )
    update loanops.operation o
       set unstarted_attempt = null, sent_attempt = o.attempt, kept = coalesce(starting.kept::json, o.kept)
      from starting
     where o.id = any(array(select id from starting)) and o.id = starting.id
    returning o.id, o.attempt as number`.execute(db)
  return rows
}

/** Skips locked rows until the next time: waiting for an attempt's start or end could deadlock. */
export async function renewClaims(db: Database, worker: string, claims: ClaimKey[]) {
  const { rows } = await sql<ClaimKey & { isRenewed: boolean }>`
    with ours as (
      select claim.*
        from unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ number }) => number)}::integer[])
               as claim (id, number)
        join loanops.operation o on o.id = claim.id and o.attempt = claim.number
       where o.claimed_by = ${worker} and ${isUnfinished}
    ), free as (
      select o.id from ours join loanops.operation o on o.id = ours.id and o.attempt = ours.number
       where o.claimed_by = ${worker} and ${isUnfinished}
         for no key update of o skip locked
    ), renewed as (
      update loanops.operation o set claimed_until = ${leaseEnd}
        from free
       where o.id = free.id
      returning o.id
    )
    select ours.id, ours.number, renewed.id is not null as "isRenewed"
      from ours left join renewed on renewed.id = ours.id`.execute(db)
  return rows
}

export async function handBack(db: Database, { id, number }: Claim): Promise<void> {
  await sql`
    update loanops.operation set ${released}
     where id = ${id} and attempt = ${number} and status = 'processing'`.execute(db)
}

export async function rememberSeen(db: Database, { id, number }: Claim, seen: unknown) {
  const { numAffectedRows } = await sql`
    update loanops.operation set seen = ${JSON.stringify(seen)}::json
     where id = ${id} and attempt = ${number} and status = 'processing'
       and claimed_by is not null`.execute(db)
  if (numAffectedRows !== 1n) throw new ClaimGone('the lease was lost before the write')
}

export async function markUnavailable(
  db: Database,
  subjects: string[],
  why: string,
  reason: WaitingFor = 'ledger_unavailable',
): Promise<void> {
  await sql`
    with waiting as (
      select o.id
        from ${headsOf(subjects)}
        join loanops.operation o on o.id = oldest.id and ${isUnfinished}
       where o.claimed_by is null and o.waiting_for is null
       order by o.id
         for no key update of o
    )
    update loanops.operation o set waiting_for = ${reason}, last_error = ${why}
      from waiting
     where o.id = waiting.id`.execute(db)
}

/** Whether an operator wants one of these to be tried again. */
export async function isRetried(db: Database, subjects: string[]): Promise<boolean> {
  const { rows } = await sql`
    select from loanops.operation
     where subject = any(${subjects}) and status = 'processing' and resolution = 'retry'
      limit 1`.execute(db)
  return rows.length > 0
}
