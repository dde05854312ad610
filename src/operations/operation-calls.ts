import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { type ActCall, type Facts, factsAbout } from '../accounts/approvals/act-call.ts'
import { listFacts } from '../accounts/approvals/list-facts.ts'
import type { Act } from '../config/acts.ts'
import type { Database, Trx } from '../database/database.ts'
import { inSavepoint } from '../database/in-savepoint.ts'
import type { OnFinal } from '../engine/finish/finish.ts'
import type { Resolution } from '../engine/operation.ts'
import { answerEach, type ItemAnswer } from '../http/answer-each.ts'
import type { Log } from '../log.ts'
import { cancelOperation } from './cancel.ts'
import { resolveOperation } from './resolve.ts'
import { parseTrackingId, UnknownTrackingId } from './tracking-id.ts'

type Context = { db: Database; boss: PgBoss; onFinal: OnFinal; log: Pick<Log, 'error'> }
type Resolved = { tracking_id: string; outcome: Resolution }
type ResolvedEach = { tracking_ids: string[]; outcome: Resolution }

/** What people decide about operations. */
export function operationCalls({ boss, onFinal, log }: Context) {
  const resolveCall: ActCall<Resolved, undefined, void> = {
    name: 'operations.resolve',
    actsOf: () => ['operation.resolve'],
    factsOf: (trx, { tracking_id }) => operationFacts(trx, tracking_id, 'operation.resolve'),
    act: async (db, asker, { tracking_id, outcome }) =>
      resolveOperation(db, boss, parseTrackingId(tracking_id), outcome, asker),
    answer: async ({ tracking_id: id }) => ({
      status: 202,
      body: { tracking_id: id, status: 'processing' },
    }),
  }

  const resolveEachCall: ActCall<ResolvedEach, undefined, ItemAnswer[]> = {
    name: 'operations.resolve_each',
    actsOf: () => ['bulk', 'operation.resolve'],
    factsOf: (trx, { tracking_ids, outcome }) => {
      const items = tracking_ids.map(tracking_id => ({ tracking_id, outcome }))
      return listFacts(trx, `operations.${outcome}`, items, resolveCall)
    },
    act: (db, asker, { tracking_ids, outcome }) =>
      answerEach(log, asker, tracking_ids, 202, one =>
        inSavepoint(db, () => resolveCall.act(db, asker, { tracking_id: one, outcome }, undefined)),
      ),
    answer: async ({ tracking_ids }, answers) => {
      const results = tracking_ids.map((tracking_id, i) => ({ tracking_id, ...answers[i] }))
      return { status: 200, body: { results } }
    },
  }

  const cancelCall: ActCall<{ tracking_id: string }, undefined, () => void> = {
    name: 'operations.cancel',
    actsOf: () => ['operation.cancel'],
    factsOf: (trx, { tracking_id }) => operationFacts(trx, tracking_id, 'operation.cancel'),
    act: (db, asker, { tracking_id }) =>
      cancelOperation({ db, boss, onFinal }, parseTrackingId(tracking_id), asker),
    finish: async (_, count) => count(),
    answer: async ({ tracking_id }) => ({ status: 202, body: { tracking_id, status: 'failed' } }),
  }
  return { resolveCall, resolveEachCall, cancelCall }
}

/** The facts about an operation. How often it was tried is none: one that waits is tried again all the time. */
async function operationFacts(trx: Trx, trackingId: string, act: Act): Promise<Facts> {
  const { operationType, id } = parseTrackingId(trackingId)
  const { rows } = await sql<{ status: string; isUntried: boolean }>`
    select status, external_id, waiting_for, last_error, resolution, attempts = 0 as "isUntried"
      from loanops.operation where id = ${id} and operation_type = ${operationType} for update`.execute(
    trx,
  )
  if (rows[0] === undefined) throw new UnknownTrackingId()
  const { isUntried, ...shown } = rows[0]
  const { last_error: _, ...state } = shown as Record<string, unknown>
  return factsAbout(act, trackingId, shown, [state, isUntried])
}
