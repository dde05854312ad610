import type { Database } from '../../src/database/database.ts'
import type { Overlap } from '../../src/sandbox/http/traffic.ts'
import type { LoggedWrite } from '../../src/sandbox/storage/write-log.ts'
import { control } from '../support/ledger/loans.ts'
import type { Answered } from './callers.ts'
import type { Cluster } from './cluster.ts'
import { judge } from './model.ts'
import { BY_HAND } from './operators.ts'
import { judgePayments } from './payments-model.ts'

const isByHand = (key: string | null) => key?.startsWith(BY_HAND) === true
const isOurs = ({ idempotencyKey }: LoggedWrite) => !isByHand(idempotencyKey)

/** A person at the ledger does not wait for us. */
const isOfOurs = ({ idempotencyKeys }: Overlap) => !idempotencyKeys.some(isByHand)

const WRONG = [
  'vanished',
  'unfinished',
  'lost',
  'doubled',
  'failedButApplied',
  'outOfOrder',
  'strangers',
] as const

/** Compares operations and payments with the ledger's books, once everything is final. */
export async function verdictOn({ ledger }: Cluster, db: Database, answered: Answered) {
  const { log, counters } = await control({ ledger }, 'GET', '/books?log=250000')
  const verdict = await judge(db, answered.operations, log.filter(isOurs))
  const payments = await judgePayments(db, answered.payments, ledger.controlUrl)
  const isHeld =
    WRONG.every(name => verdict[name] === 0) &&
    verdict.appliedOnce + verdict.refusedPayments + verdict.cancelledRows === verdict.accepted &&
    Object.values(payments.wrong).every(count => count === 0) &&
    payments.heldPaise === payments.capturedPaise
  return {
    isHeld,
    faults: counters.faults,
    overlaps: (counters.overlapping as Overlap[]).filter(isOfOurs),
    report: { ...verdict, acknowledged: answered.operations.length, payments },
  }
}
