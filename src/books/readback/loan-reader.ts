import { setTimeout as sleep } from 'node:timers/promises'
import { LedgerTrouble } from '../../ledger/answers/answer.ts'
import { READ_AGAIN_MS, READ_TRIES, retryAfterOf } from '../../ledger/answers/read-tries.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import type { Slots } from '../../ledger/slots/slots.ts'
import type { Run } from '../../queue/run-job.ts'
import type { PostedPayment } from './posted-payments.ts'
import { type ReadbackFinding, readRepayments } from './read-repayments.ts'

const MAX_PAUSE_MS = 5_000

export type LoanRead = { loan: string; findings: ReadbackFinding[]; error: string | null }

export function openLoanReader(
  { ledger, slots }: { ledger: Ledger; slots: Slots },
  { stopping, check }: Pick<Run, 'stopping' | 'check'>,
) {
  let outage: Promise<void> | undefined

  return {
    async read(loan: string, payments: PostedPayment[]): Promise<LoanRead> {
      for (let tries = 1; ; tries++) {
        await outage
        check()
        try {
          const findings = await slots.run('bulk', () => readRepayments(ledger, loan, payments))
          return { loan, findings, error: null }
        } catch (error) {
          if (!(error instanceof LedgerTrouble)) throw error
          if (tries === READ_TRIES)
            return { loan, findings: [], error: `${loan}: ${error.message}` }
          await rest(Math.max(READ_AGAIN_MS, retryAfterOf(error)))
          await untilItAnswers()
        }
      }
    },
  }

  function untilItAnswers(): Promise<void> {
    outage ??= probeUntilItAnswers().finally(() => {
      outage = undefined
    })
    return outage
  }

  async function probeUntilItAnswers(): Promise<void> {
    for (let ms = READ_AGAIN_MS; !(await slots.run('bulk', ledger.probe)); ms *= 2)
      await rest(Math.min(ms, MAX_PAUSE_MS))
  }

  async function rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
    check()
  }
}
