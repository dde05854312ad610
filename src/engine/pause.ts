import { sql } from 'kysely'
import type { Database, Row } from '../database/database.ts'
import { NotSent } from '../ledger/calls/send.ts'
import { asError, type Log } from '../log/log.ts'
import { startLoop } from '../queue/job.ts'
import { oneAtATime } from '../queue/one-at-a-time.ts'

/** Within two seconds of a pause, no process begins a write any more. */
const LOOK_EVERY_MS = 1_000
/** A state that was read longer ago does not permit a write. */
const TRUSTED_FOR_MS = 1_500
/** Pauses are remembered for longer than any deadline may be. */
const REMEMBERED_DAYS = 366

export type Pauses = ReturnType<typeof watchPauses>

export class LedgerPaused extends NotSent {}

type Pause = Row<'loanops.ledger_pause', 'since' | 'until'> & { isUnderWay: boolean }

export function watchPauses(db: Database, log: Pick<Log, 'error'>) {
  let known: { pauses: Pause[]; at: number } = { pauses: [], at: Number.NEGATIVE_INFINITY }
  const look = oneAtATime(readPauses)
  const onError = asError(log, 'pauses could not be read')
  const loop = startLoop({ everyMs: LOOK_EVERY_MS, onError }, look)
  const isPaused = () => known.pauses.some(({ isUnderWay }) => isUnderWay)

  return {
    isPaused,
    /** False if it is not known whether the ledger is paused. The database is asked only if the last answer is old. */
    async mayWrite(): Promise<boolean> {
      if (performance.now() - known.at > TRUSTED_FOR_MS) await look().catch(onError)
      return performance.now() - known.at <= TRUSTED_FOR_MS && !isPaused()
    },
    pausedBetween: (from: Date, until: Date) => timePaused(known.pauses, from, until),
    stop: loop.stop,
  }

  async function readPauses(): Promise<void> {
    const at = performance.now()
    known = { pauses: await recentPauses(db), at }
  }
}

async function recentPauses(db: Database): Promise<Pause[]> {
  const { rows } = await sql<Pause>`
    select since, until, until is null or until > now() as "isUnderWay"
      from loanops.ledger_pause
     where until is null or until > now() - make_interval(days => ${REMEMBERED_DAYS})
     order by since`.execute(db)
  return rows
}

/** @param pauses by their beginning; after a restore they overlap */
function timePaused(pauses: Pause[], from: Date, until: Date): number {
  let sum = 0
  let counted = from.getTime()
  for (const { since, until: end } of pauses) {
    const to = Math.min(end?.getTime() ?? until.getTime(), until.getTime())
    sum += Math.max(0, to - Math.max(since.getTime(), counted))
    counted = Math.max(counted, to)
  }
  return sum
}
