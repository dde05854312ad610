import { sql } from 'kysely'
import { type ActCall, factsAbout } from '../../accounts/approvals/act-call.ts'
import type { Row } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { isOver, lockPause, type PauseState, pauseLedger } from './pause-ledger.ts'

/** `until` is in ISO 8601. */
type Pause = { reason: string; until: string | null }

export const pauseCall: ActCall<Pause, undefined, PauseState> = {
  name: 'ledger.pause',
  acts: ['ledger.pause'],
  async factsOf(trx, { until }) {
    await lockPause(trx)
    const { rows } = await sql<Row<'loanops.ledger_pause', 'reason' | 'until'>>`
      select reason, until from loanops.ledger_pause
       where until is null or until > clock_timestamp()`.execute(trx)
    const [now = { reason: null, until: null }] = rows
    // A pause that is approved too late would be refused each time, and keep others from being proposed.
    const wouldBeOver = until !== null && (await isOver(trx, new Date(until)))
    const state = { ...now, ...(wouldBeOver && { wouldBeOver }) }
    return factsAbout('ledger.pause', 'ledger', { paused: rows.length > 0, ...now }, state)
  },
  act: (db, asker, { reason, until }) =>
    pauseLedger(db, { reason, until: until === null ? null : new Date(until) }, asker),
  answer: async (_, state) => ({ status: 200, body: asJson(state) }),
}
