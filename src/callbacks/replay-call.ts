import { sql } from 'kysely'
import { type ActCall, factsAbout } from '../accounts/approvals/act-call.ts'
import { Conflict } from '../http/problem.ts'
import { matchingCallbacks } from './find-callbacks.ts'
import { lockCallbacks } from './lock-callbacks.ts'
import { type Replay, type Replayed, replayCallbacks } from './replay-callbacks.ts'

/** An approved replay is one transaction, in which no callback is numbered or recorded: one of these takes a second or two. */
const MAX_APPROVED = 10_000

export const replayCall: ActCall<Replay, undefined, Replayed> = {
  name: 'callback.replay',
  acts: ['callback.replay'],
  // A dry run only counts.
  actsOf: ({ dry_run }) => (dry_run ? [] : ['callback.replay']),
  async factsOf(trx, { dry_run: _, state = 'failed', ...filter }) {
    await lockCallbacks(trx)
    const { rows } = await sql<{ callbacks: number; digest: string }>`
      select count(*)::integer as callbacks, coalesce(md5(string_agg(id::text, ',' order by id)), '') as digest
        from loanops.callback
         where ${matchingCallbacks({ ...filter, state }, 'INVALID_PAYLOAD')}`.execute(trx)
    const { callbacks, digest } = rows[0] ?? { callbacks: 0, digest: '' }
    const subject = [state, filter.type, filter.subject, filter.from, filter.to].join(' ')
    return factsAbout('callback.replay', subject, { callbacks }, digest)
  },
  act: (db, asker, request) => replayCallbacks(db, request, asker),
  async actAsWhole(trx, asker, request) {
    const { callbacks } = await replayCallbacks(trx, { ...request, dry_run: true }, asker)
    if (callbacks > MAX_APPROVED)
      throw new Conflict(
        `${callbacks} callbacks are too many for one proposal: propose shorter times, of at most ${MAX_APPROVED} each`,
      )
    return replayCallbacks(trx, request, asker)
  },
  answer: async (_, body) => ({ status: 202, body }),
}
