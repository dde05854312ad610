import type { CallbackSettings } from '../../config/settings/callback-settings.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { groupCommit } from '../../database/group-commit/group-commit.ts'
import { keepRenewing } from '../../database/lease.ts'
import { asError, type Log } from '../../log/log.ts'
import { tracedCall } from '../../ops/traces/traced-call.ts'
import type { Traces } from '../../ops/traces/traces.ts'
import { type Job, startLoop } from '../../queue/job.ts'
import { openCallbackSender } from './callback-sender.ts'
import { type ClaimedCallback, claimCallbacks, renewCallbacks } from './claim-callbacks.ts'
import { numberCallbacks } from './number-callbacks.ts'
import { type CallbackResult, recordCallbacks } from './record-callbacks.ts'

/** With this many attempts at once, a receiver that answers in 30 ms gets a thousand callbacks a second. */
const MAX_CONCURRENT_ATTEMPTS = 32
/** While callbacks come in, a first attempt waits half of this on average. */
const LOOK_EVERY_MS = 40
const LOOK_WHEN_QUIET_EVERY_MS = 200
const QUIET_AFTER_MS = 1_000

/** This is part of the 25 s that a stop may take. */
const ATTEMPTS_MAY_FINISH_MS = 15_000

type Sender = ReturnType<typeof openCallbackSender>

type Hooks = { traces: Traces; log: Pick<Log, 'error'>; onResult(outcome: string): void }

/** Delivers callbacks with slots and connections of its own, so that it delays no other work. */
export function deliverCallbacks(
  db: Database,
  settings: CallbackSettings,
  { traces, log, onResult }: Hooks,
): Job {
  const sender = openCallbackSender(settings, MAX_CONCURRENT_ATTEMPTS)
  const underWay = new Map<ClaimedCallback, Promise<void>>()
  const recorder = openRecorder(db)
  const onError = asError(log, 'callbacks cannot be delivered; retrying')
  const renewal = keepRenewing(() => renewCallbacks(db, [...underWay.keys()]), onError)
  const pauseAfter = openPace()
  const loop = startLoop({ everyMs: QUIET_AFTER_MS, onError }, look)

  return {
    async stop() {
      await loop.stop()
      await finishDeliveries(underWay.values(), sender)
      renewal.stop()
      await sender.close()
    },
  }

  async function look(): Promise<number> {
    const [numbering] = await Promise.allSettled([numberCallbacks(db, log)])
    const free = MAX_CONCURRENT_ATTEMPTS - underWay.size
    const claimed = free > 0 ? await claimCallbacks(db, free) : []
    if (claimed.length > 0) crashPoint('callback.claimed')
    for (const callback of claimed) underWay.set(callback, attempt(callback))
    // The error is thrown only now: due callbacks do not wait until callbacks can be numbered again.
    if (numbering.status === 'rejected') throw numbering.reason
    return numbering.value ? 0 : pauseAfter(claimed.length)
  }

  async function attempt(callback: ClaimedCallback): Promise<void> {
    const sent = await sendTraced(traces, sender, callback)
    crashPoint('callback.answered')
    try {
      await recorder.submit({ callback, sent })
      onResult(sent.outcome)
    } catch (error) {
      // Once the callback's lease ends, it is sent again.
      onError(error)
    }
    underWay.delete(callback)
    loop.wake()
  }
}

function sendTraced(traces: Traces, sender: Sender, callback: ClaimedCallback) {
  const { id, type, body, claimedAt: at } = callback
  const part = { name: `callback ${type}`, attributes: { 'loanops.callback_id': id } }
  return tracedCall(traces.at(callback.traceparent), part, traceparent =>
    sender.send({ id, body, traceparent, at }),
  )
}

async function finishDeliveries(underWay: Iterable<Promise<void>>, sender: Sender): Promise<void> {
  const cutOff = setTimeout(() => void sender.close(), ATTEMPTS_MAY_FINISH_MS)
  await Promise.all(underWay)
  clearTimeout(cutOff)
}

function openRecorder(db: Database) {
  return groupCommit(async (results: CallbackResult[]) => {
    await recordCallbacks(db, results)
    return results
  })
}

function openPace(): (found: number) => number {
  let busyAt = performance.now()
  return found => {
    if (found > 0) busyAt = performance.now()
    const isQuiet = performance.now() - busyAt > QUIET_AFTER_MS
    return isQuiet ? LOOK_WHEN_QUIET_EVERY_MS : LOOK_EVERY_MS
  }
}
