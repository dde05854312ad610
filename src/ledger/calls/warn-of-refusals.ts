import type { Log } from '../../log/log.ts'
import type { Answer } from '../answers/answer.ts'
import { codeOf, isOfLedgerShape } from '../answers/error-body.ts'
import { causeOfRefusal, inOneSentence, isOfUser } from '../answers/remedy.ts'
import type { Ledger } from './client.ts'

const AGAIN_AFTER_MS = 60 * 60_000

/** Logs one line an hour for what a person must correct, however many operations wait for it. */
export function warnOfRefusals(ledger: Pick<Ledger, 'onAnswer'>, log: Pick<Log, 'warn'>): void {
  const saidAt = new Map<string, number>()
  ledger.onAnswer(answer => {
    const remedy = remedyIn(answer)
    if (remedy === undefined) return
    const lastAt = saidAt.get(remedy) ?? Number.NEGATIVE_INFINITY
    if (performance.now() - lastAt < AGAIN_AFTER_MS) return
    saidAt.set(remedy, performance.now())
    log.warn({ status: answer.status }, `the ledger cannot be used: ${remedy}`)
  })
}

/** The remedy, without the ledger's own words, which may name a person. */
function remedyIn({ status, body, outcome, message, hasRemedy }: Answer): string | undefined {
  // The message of a call that was not answered is ours.
  if (status === null) return outcome === 'not_arrived' && hasRemedy ? message : undefined
  const concernsAll = status === 401 || !isOfLedgerShape(body) || isOfUser(codeOf(body))
  if (outcome !== 'misconfigured' || !concernsAll) return undefined
  return inOneSentence(causeOfRefusal(status, body))
}
