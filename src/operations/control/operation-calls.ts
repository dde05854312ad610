import { sql } from 'kysely'
import type { PgBoss } from 'pg-boss'
import { type ActCall, type Facts, factsAbout } from '../../accounts/approvals/act-call.ts'
import { eachCall } from '../../accounts/approvals/each-call.ts'
import type { Act } from '../../config/acts.ts'
import type { Database, Row, Trx } from '../../database/database.ts'
import type { OnFinal } from '../../engine/finish/finish.ts'
import { IS_RESOLVABLE, IS_UNTRIED, type Resolution } from '../../engine/operation.ts'
import type { Log } from '../../log/log.ts'
import { parseTrackingId, UnknownTrackingId } from '../tracking-id.ts'
import { cancelOperation } from './cancel.ts'
import { resolveOperation } from './resolve.ts'

type Context = { db: Database; boss: PgBoss; onFinal: OnFinal; log: Pick<Log, 'error'> }
type Resolved = { tracking_id: string; outcome: Resolution }
type ResolvedEach = { tracking_ids: string[]; outcome: Resolution }

export function operationCalls({ boss, onFinal, log }: Context) {
  const resolveCall: ActCall<Resolved, undefined, void> = {
    name: 'operations.resolve',
    acts: ['operation.resolve'],
    factsOf: (trx, { tracking_id }) => operationFacts(trx, tracking_id, 'operation.resolve'),
    act: async (db, asker, { tracking_id, outcome }) =>
      resolveOperation({ db, boss }, parseTrackingId(tracking_id), outcome, asker),
    answer: async ({ tracking_id: id }) => ({
      status: 202,
      body: { tracking_id: id, status: 'processing' },
    }),
  }

  const resolveEachCall = eachCall<ResolvedEach, Resolved, undefined>({
    name: 'operations.resolve_each',
    itemsOf: ({ tracking_ids, outcome }) =>
      tracking_ids.map(tracking_id => ({ tracking_id, outcome })),
    call: resolveCall,
    subjectOf: ({ outcome }) => `operations.${outcome}`,
    status: 202,
    namesOf: ({ tracking_id }) => ({ tracking_id }),
    log,
  })

  const cancelCall: ActCall<{ tracking_id: string }, undefined, () => void> = {
    name: 'operations.cancel',
    acts: ['operation.cancel'],
    factsOf: (trx, { tracking_id }) => operationFacts(trx, tracking_id, 'operation.cancel'),
    act: (db, asker, { tracking_id }) =>
      cancelOperation({ db, boss, onFinal }, parseTrackingId(tracking_id), asker),
    finish: async (_, count) => count(),
    answer: async ({ tracking_id }) => ({ status: 202, body: { tracking_id, status: 'failed' } }),
  }
  return { resolveCall, resolveEachCall, cancelCall }
}

type Possible = { isUntried: boolean; isResolvable: boolean }

/**
 * The facts about an operation. While it waits, it is tried again all the time, and what it waits for changes with the
 * ledger. So a proposal goes stale only once its act is no longer possible.
 */
async function operationFacts(trx: Trx, trackingId: string, act: Act): Promise<Facts> {
  const { operationType, id } = parseTrackingId(trackingId)
  const { rows } = await sql<Row<'loanops.operation', 'status' | 'resolution'> & Possible>`
    select status, external_id, waiting_for, last_error, resolution, ${IS_UNTRIED} as "isUntried",
           ${IS_RESOLVABLE} as "isResolvable"
      from loanops.operation o where id = ${id} and operation_type = ${operationType}
       for update`.execute(trx)
  if (rows[0] === undefined) throw new UnknownTrackingId()
  const { isUntried, isResolvable, ...shown } = rows[0]
  const { status, resolution } = shown
  const isPossible = act === 'operation.cancel' ? isUntried : isResolvable
  return factsAbout(act, trackingId, shown, [status, resolution, isPossible])
}
