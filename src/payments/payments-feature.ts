import type { Feature } from '../engine/feature.ts'
import { measure } from '../ops/measured.ts'
import { copyLenders } from './copy-lenders.ts'
import { webhookReport } from './intake/unproven-webhooks.ts'
import {
  FEE_CRASH_POINTS,
  PAYMENT_CRASH_POINTS,
  paymentCounters,
  paymentGauges,
  REVERSAL_CRASH_POINTS,
} from './payment-signals.ts'
import { purgeEvents } from './purge-events.ts'
import { recordPostings } from './repayment/record-postings.ts'
import { recordReversals } from './repayment/record-reversals.ts'
import { repayment } from './repayment/repayment.ts'
import { repaymentReversal } from './repayment/repayment-reversal.ts'
import { unrecordedGauge } from './unrecorded-gauge.ts'

export const paymentsFeature: Feature = {
  prepare: copyLenders,
  operations: (db, config) => [repayment(db, config), repaymentReversal(config)],
  gauges: [
    measure(paymentGauges),
    ({ metrics, patient, log }) => unrecordedGauge(metrics.registry, patient, log),
  ],
  counters: paymentCounters,
  report: webhookReport,
  crashPoints: [
    ...PAYMENT_CRASH_POINTS,
    ...FEE_CRASH_POINTS,
    ...REVERSAL_CRASH_POINTS,
    'reference.saved',
  ],
  purge: { setting: 'RAW_RETENTION_DAYS', kind: 'events', run: purgeEvents },
  onFinal: {
    origins: ['payment'],
    async record(trx, final, metrics) {
      // Reversals first: they take the lock for settling, which must come before the locks on payments' rows.
      const { booked, refused } = await recordReversals(trx, final)
      const { overpaid } = await recordPostings(trx, final)
      return () => {
        const { overpaidRepayments, reversals } = metrics.of(paymentCounters)
        overpaidRepayments.inc(overpaid)
        reversals.inc({ outcome: 'booked' }, booked)
        reversals.inc({ outcome: 'refused' }, refused)
      }
    },
  },
}
