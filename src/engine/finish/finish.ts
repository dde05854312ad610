import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../../crash-point.ts'
import type { Database, Trx } from '../../database/database.ts'
import { prepared } from '../../database/pool/prepared.ts'
import { type Answer, TOO_EARLY } from '../../ledger/answers/answer.ts'
import { insertJobs } from '../../queue/queue.ts'
import { storableJson } from '../../text/storable.ts'
import { type Claim, type ClaimKey, claimKey } from '../claim/claim.ts'
import { isUnfinished, released } from '../claim/heads.ts'
import type { Kept } from '../operation.ts'
import type { Origin } from '../origin.ts'
import { bulkQueue, liveQueue, queueOf, wakesOf } from '../queue.ts'
import { isAnswer, type Refusal } from '../refusal.ts'
import { type Decision, recordedOutcome } from './decide.ts'
import { leavesCall } from './new-key.ts'

export type Final = {
  claim: Pick<Claim, 'id' | 'operationType' | 'origin' | 'subject' | 'data'>
  decision: Decision
}
export type OnFinal = {
  origins: readonly Origin[]
  /**
   * Runs in the transaction that makes operations final, so that whatever depends on them changes at the same moment.
   * @returns what counts it in metrics, to be called after the commit
   */
  record(trx: Trx, final: Final[]): Promise<() => void>
  note(final: Final[]): void
}

export type Ended = {
  claim: Claim
  key: string
  answer: Answer | Refusal | null
  /** The facts that the attempt's write, if it was sent, depended on. */
  kept?: Kept | null
  /** Whether a call may still run after the attempt; if absent, what the claim says holds. */
  mayStillRun?: boolean
  decision: Decision
}

export async function finishAttempts(db: Database, boss: PgBoss, ended: Ended[], onFinal: OnFinal) {
  const standsAlone = ({ claim, decision }: Ended) =>
    isFinal(decision) && !onFinal.origins.includes(claim.origin)
  // The end of a live operation changes nothing else: its statement commits on its own, without two more round trips.
  const { counted, count } = ended.every(standsAlone)
    ? { counted: await recordEnds(db, ended), count: undefined }
    : await db.transaction().execute(trx => recordWithAll(trx, boss, ended, onFinal))
  crashPoint('finish.committed')
  count?.()
  onFinal.note(countedFinal(ended, counted))
  return ended.map(({ claim }) => counted.has(claimKey(claim)))
}

async function recordWithAll(trx: Trx, boss: PgBoss, ended: Ended[], onFinal: OnFinal) {
  const counted = await recordEnds(trx, ended)
  const count = await onFinal.record(trx, countedFinal(ended, counted))
  for (const queue of [liveQueue, bulkQueue]) {
    const again = ended.filter(
      ({ claim, decision }) =>
        counted.has(claimKey(claim)) && !isFinal(decision) && queueOf(claim.origin) === queue,
    )
    const wakes = again.flatMap(({ claim }) =>
      wakesOf([claim.subject], counted.get(claimKey(claim))),
    )
    await insertJobs(boss, trx, queue, wakes)
  }
  return { counted, count }
}

const isFinal = ({ status }: Decision) => status !== 'processing'

const countedFinal = (ended: Ended[], counted: Map<string, Date>): Final[] =>
  ended.filter(({ claim, decision }) => counted.has(claimKey(claim)) && isFinal(decision))

export async function recordEnds(db: Database, ended: Ended[]): Promise<Map<string, Date>> {
  const { rows } = await sql<ClaimKey & { nextTryAt: Date }>`${prepared('record_ends')}
    with ended as (
      select * from json_to_recordset(${storableJson(ended.map(row))}) as (
        id uuid, number integer, status text, response json, error_message text, waiting_for text, last_error text,
        next_try_ms double precision, look_first boolean, may_still_run boolean, kept json, is_unknown boolean, wants_new_key boolean,
        counts_as_attempt boolean, resolution text, keeps_resolution boolean,
        method text, path text, http_status integer, outcome text, idempotency_key text)
    ), locked as (
      select o.id, o.claimed_at
        -- The order is that of recordSendings.
        from (select id, number from ended order by id) claim
       cross join lateral (
         select id, claimed_at from loanops.operation o
          where o.id = claim.id and o.attempt = claim.number and ${isUnfinished}
            -- A claim that expired has been ended already.
            and o.claimed_by is not null
            for no key update) o
    ), finished as (
      update loanops.operation o
         set status = ended.status,
             response = ended.response,
             error_message = ended.error_message,
             processed_at = case when ended.status <> 'processing' then clock_timestamp() end,
             waiting_for = ended.waiting_for,
             last_error = coalesce(ended.last_error, o.last_error),
             -- What an operator decided while this attempt ran applies to the next one, at once.
             resolution = case when ended.keeps_resolution then o.resolution else nullif(o.resolution, ended.resolution) end,
             next_try_at = case when ended.status = 'processing' and nullif(o.resolution, ended.resolution) is null
               then clock_timestamp() + ended.next_try_ms * interval '1 millisecond' else o.next_try_at end,
             look_first = ended.look_first,
             may_still_run = ended.may_still_run, kept = coalesce(ended.kept, o.kept),
             unknown_since = case when ended.status = 'processing' then
               coalesce(o.unknown_since, case when ended.is_unknown then o.claimed_at end) end,
             key_generation = o.key_generation + ended.wants_new_key::integer,
             attempts = o.attempts + ended.counts_as_attempt::integer,
             ${released}
        from ended
       where o.id = any(array(select id from locked)) and o.id = ended.id and o.attempt = ended.number
      -- A JavaScript date drops the microseconds: a wake-up must not come too early.
      returning o.id, o.attempt as number, o.next_try_at + interval '1 millisecond' as "nextTryAt"
    ), ${recordingAttempts}
    select id, number, "nextTryAt" from finished`.execute(db)
  return new Map(rows.map(row => [claimKey(row), row.nextTryAt]))
}

const recordingAttempts = sql`
    attempted as (
      select ended.*, locked.claimed_at as started_at
        from ended join finished using (id, number) join locked using (id)
       where outcome is not null
    ), repeated as (
      -- An attempt that ends like the previous one is only counted: a ledger that fails for hours must not
      -- fill the table.
      update loanops.operation_attempt last
         set times = last.times + 1, ended_at = clock_timestamp(), idempotency_key = a.idempotency_key
        from attempted a
       where last.operation_id = any(array(select id from attempted where number > 1))
         and last.operation_id = a.id
         and last.attempt = (select max(attempt) from loanops.operation_attempt where operation_id = a.id)
         and (last.method, last.path, last.http_status, last.outcome)
             is not distinct from (a.method, a.path, a.http_status, a.outcome)
         -- How long a key has been "still processing" is counted per key.
         and (a.http_status is distinct from ${TOO_EARLY} or last.idempotency_key is not distinct from a.idempotency_key)
      returning a.id
    ), added as (
      insert into loanops.operation_attempt (operation_id, attempt, started_at, ended_at, method, path, http_status,
        outcome, idempotency_key)
      select id, number, started_at, clock_timestamp(), method, path, http_status, outcome, idempotency_key
        from attempted where id not in (select id from repeated)
    )`

function row({ claim, key, answer, kept, mayStillRun = claim.mayStillRun, decision }: Ended) {
  const isOpen = decision.status === 'processing'
  const isCall = isAnswer(answer)
  return {
    id: claim.id,
    number: claim.number,
    status: decision.status,
    response: isOpen ? null : decision.response,
    error_message: decision.status === 'failed' ? decision.errorMessage : null,
    waiting_for: isOpen ? decision.waitingFor : null,
    last_error: isOpen ? decision.lastError : null,
    next_try_ms: isOpen ? decision.nextTryMs : 0,
    look_first: isOpen ? decision.lookFirst : claim.lookFirst,
    // A new key is taken once the call under the old one has ended, unless a person or a time limit gives that call up.
    may_still_run:
      isOpen &&
      (!decision.wantsNewKey || (isCall && leavesCall(claim, key, answer))) &&
      mayStillRun,
    kept: isOpen && mayStillRun ? kept : null,
    is_unknown: isOpen && decision.isUnknown,
    wants_new_key: isOpen && decision.wantsNewKey,
    counts_as_attempt: isOpen ? decision.countsAsAttempt : true,
    resolution: claim.resolution,
    keeps_resolution: isOpen && decision.keepsResolution === true,
    method: isCall ? answer.method : null,
    path: isCall ? answer.path : null,
    http_status: isCall ? answer.status : null,
    outcome: answer === null ? null : recordedOutcome(answer.outcome),
    idempotency_key: isCall && answer.method !== 'GET' ? key : null,
  }
}
