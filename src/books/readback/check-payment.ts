import { type Asker, auditAlone } from '../../accounts/audit.ts'
import type { Config } from '../../config/config.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { type ForCaller, readForCaller } from '../../ledger/calls/read-for-caller.ts'
import type { Metrics } from '../../ops/metrics.ts'
import type { PaymentName } from '../../payments/locked-payment.ts'
import { readNamedPayment } from '../../payments/reading/find-payments.ts'
import { ALWAYS, isReadBack, postedTo } from './posted-payments.ts'
import { readRepayments } from './read-repayments.ts'
import { countFound } from './readback-feature.ts'
import { recordFindings } from './record-findings.ts'

export type PaymentCheckContext = ForCaller & {
  db: Database
  config: Pick<Config, 'LEDGER_TIMEZONE'>
  metrics: Metrics
}

export async function checkPayment(context: PaymentCheckContext, name: PaymentName, asker: Asker) {
  const { db, config, metrics } = context
  const { id, payment } = await readNamedPayment(db, name)
  const subject = `${name.gateway}/${name.paymentId}`
  await auditAlone(db, { ...asker, action: 'payment.check', subject })
  const { kind, external_loan_id: loan } = payment
  if (!isReadBack(payment) || loan === null) return payment
  const posted = await postedTo(db, [loan], ALWAYS, config.LEDGER_TIMEZONE)
  const wanted = posted.filter(one => one.id === id)
  const findings = await readForCaller(context, ledger => readRepayments(ledger, loan, wanted))
  countFound(metrics)(await inTransaction(db, trx => recordFindings(trx, findings)))
  return (await readNamedPayment(db, { ...name, kind })).payment
}
