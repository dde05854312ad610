import { asWarning, type Log } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'
import type { Ledger } from '../calls/client.ts'
import type { Slots } from './slots.ts'

/**
 * Almost every write takes less time than this. It is less than LEDGER_TIMEOUT_MS, because a slow one may still be
 * answered.
 */
const HUNG_AFTER_MS = 8_000
const LOOKS_UNTIL_THEN = 8

/**
 * Passes the slots of hung calls on. Until calls on dead connections time out, nothing tells them from slow ones, but
 * a ledger that answers on a new connection can take other calls.
 */
export function passHungCalls(
  ledger: Ledger,
  slots: Slots,
  log: Pick<Log, 'warn'>,
  hungAfterMs = HUNG_AFTER_MS,
): Job {
  const onError = asWarning(log, 'could not check for hung ledger calls')
  return startLoop({ everyMs: hungAfterMs / LOOKS_UNTIL_THEN, onError }, async () => {
    if (!(await ledger.abandonHungCalls(hungAfterMs))) return
    slots.replace(hungAfterMs)
    log.warn(
      {},
      'some ledger calls hang although the ledger answers new ones; their slots are free for other calls',
    )
  })
}
