import { crashPoint } from '../../crash-point.ts'
import type { Answer } from '../../ledger/answers/answer.ts'
import type { Ledger, Write } from '../../ledger/calls/client.ts'
import type { LedgerPath } from '../../ledger/calls/path.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import { ClaimGone } from '../claim/claim.ts'
import { LedgerPaused, type Pauses } from '../pause.ts'

export type WatchedLedger = ReturnType<typeof watchLedger>

export function watchLedger(
  { ledger, pauses }: { ledger: Ledger; pauses: Pick<Pauses, 'isPaused'> },
  mayWrite: () => Promise<boolean>,
  trace: Trace,
) {
  let lastRead: Answer | null = null
  let written: Answer | null = null
  let isSent = false
  // Connecting may take seconds, in which a pause may begin.
  const beforeSending = () => {
    if (pauses.isPaused()) throw new LedgerPaused('the ledger is paused')
  }

  return {
    lastRead: (): Answer | null => lastRead && { ...lastRead, outcome: 'done' },
    written: (): Answer | null => written,
    mayHaveArrived: () => isSent && written?.leftNothing !== true,
    ledger: {
      ...ledger,
      async read<Body>(path: LedgerPath) {
        const answer = await ledger.read<Body>(path, trace)
        lastRead = answer
        return answer
      },
      async write(write: Write) {
        if (!(await mayWrite())) throw new ClaimGone('the lease was lost before the write')
        const wasSent = isSent
        isSent = true
        written = await ledger.write({ ...write, beforeSending }, trace).catch(error => {
          if (error instanceof LedgerPaused) isSent = wasSent
          throw error
        })
        crashPoint('write.answered')
        return written
      },
    },
  }
}
