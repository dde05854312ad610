import type { WorkerContext } from '../../engine/feature.ts'
import { checkAndSave } from '../../ledger/check/check-and-save.ts'
import { releaseWaiting } from '../../ledger/check/release-waiting.ts'
import type { Change } from '../../ledger/check/save-findings.ts'
import { asWarning } from '../../log/log.ts'
import { type Job, startLoop } from '../../queue/job.ts'

/** At most one call a second, over a connection of its own: operations do not notice it. */
const CALLS_APART_MS = 1_000
const MINUTE_MS = 60_000

export function checkLedgerRegularly(
  context: Pick<WorkerContext, 'db' | 'config' | 'catalogue' | 'log'>,
): Job {
  const { db, config, log } = context
  const everyMs = config.LEDGER_CHECK_MINUTES * MINUTE_MS
  if (everyMs === 0) return { stop() {} }
  const onError = asWarning(log, 'the ledger’s set-up could not be checked')
  return startLoop({ everyMs: MINUTE_MS, onError }, async stopping => {
    const changes = await checkAndSave(context, { pauseMs: CALLS_APART_MS, stopping })
    for (const change of changes) noteChange(change, log)
    if (changes.some(({ before, state }) => before === 'breaks' && state !== 'breaks'))
      await releaseWaiting(db)
    return everyMs
  })
}

const WRONG = ['breaks', 'differs']

/** Logs a change. A finding that is unknown while the ledger is away is in the list of findings alone. */
function noteChange(
  { check, lender, state, before, found, remedy }: Change,
  log: Pick<WorkerContext['log'], 'info' | 'warn'>,
): void {
  const finding = { check, lender, state }
  if (WRONG.includes(state)) log.warn(finding, `the ledger’s set-up: ${found}. ${remedy}`)
  else if (state === 'ok' && WRONG.includes(before ?? ''))
    log.info(finding, `the ledger’s set-up was corrected: ${check}`)
}
