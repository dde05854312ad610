import t from 'tap'
import { capturedA, successB } from '../../support/payments/gateway-events.ts'
import {
  dispute,
  disputeOfB,
  refund,
  refundOfB,
  reversing,
} from '../../support/payments/reversals.ts'

type Sequence = { what: string; events: (id: string, loan: string) => object[]; stands: number }

const PART = { paise: 30_000 }
const ofA = (what: string, stands: number, ...names: string[]): Sequence => ({
  what,
  stands,
  events: (of, loan) =>
    names.map(name => {
      const [subject = '', status = '', phase] = name.split(' ')
      const id = `${subject}_${of}`
      if (subject.startsWith('disp'))
        return dispute(status, { ...PART, id, of, loan, ...(phase && { phase }) })
      if (status === 'speed_changed')
        return refund({ ...PART, id, of, name: 'refund.speed_changed' })
      return refund({ ...PART, id, of, status })
    }),
})
const ofB = (what: string, stands: number, ...names: string[]): Sequence => ({
  what,
  stands,
  events: of =>
    names.map(name => {
      const [status = '', number] = name.split(' ')
      if (/DISPUTE|CHARGEBACK|ARBITRATION/.test(status)) return disputeOfB(status, 300, of)
      const auto = status === 'AUTO' && { type: 'PAYMENT_AUTO_REFUND', status: 'SUCCESS' }
      return refundOfB(300, { id: `${of}${number ?? 0}`, of, status, ...auto })
    }),
})

const SEQUENCES: Sequence[] = [
  ofA('a refund that is told late that it was created', 700, 'rfnd processed', 'rfnd created'),
  ofA('a refund that was only created, and failed', 1000, 'rfnd created', 'rfnd failed'),
  // Only a person knows which of the two is right.
  ofA('a refund that failed, and was made', 1000, 'rfnd failed', 'rfnd processed'),
  ofA('all of one refund', 700, 'rfnd created', 'rfnd speed_changed', 'rfnd processed'),
  ofA('one refund that failed, one that did not', 700, 'rfnd1 failed', 'rfnd2 processed'),
  ofA('two refunds', 400, 'rfnd1 processed', 'rfnd2 speed_changed', 'rfnd2 processed'),
  ofA('a refund beside a dispute that is open', 700, 'disp created', 'rfnd processed'),
  ofA('a refund beside a dispute that is won', 700, 'disp created', 'rfnd processed', 'disp won'),
  ofA('a refund beside one that is lost', 400, 'disp under_review', 'rfnd processed', 'disp lost'),
  ofA('a dispute that needs action', 1000, 'disp created', 'disp action_required'),
  ofA(
    'one won, and lost later',
    700,
    'disp won',
    'disp created arbitration',
    'disp lost arbitration',
  ),
  ofA('more than was paid', 100, ...[1, 2, 3, 4].map(n => `rfnd${n} processed`)),
  ofB('a refund that waits, and is made', 700, 'PENDING', 'ONHOLD', 'SUCCESS'),
  ofB('a refund that is told late that it waits', 700, 'SUCCESS', 'PENDING'),
  ofB('a refund that waits, and is cancelled', 1000, 'PENDING', 'CANCELLED'),
  ofB('a refund that fails', 1000, 'ONHOLD', 'FAILED'),
  ofB('a refund by the gateway beside one of ours', 400, 'AUTO 1', 'SUCCESS 2'),
  ofB('a dispute', 1000, 'DISPUTE_CREATED', 'DISPUTE_DOCS_RECEIVED', 'DISPUTE_UNDER_REVIEW'),
  ofB('one that is accepted', 700, 'CHARGEBACK_CREATED', 'CHARGEBACK_MERCHANT_ACCEPTED'),
  ofB(
    'one won, and lost later',
    700,
    'CHARGEBACK_MERCHANT_WON',
    'PRE_ARBITRATION_CREATED',
    'PRE_ARBITRATION_MERCHANT_LOST',
  ),
  ofB('one lost beside a refund', 400, 'SUCCESS', 'DISPUTE_CREATED', 'DISPUTE_MERCHANT_LOST'),
]
/** The longer a loan's list of transactions, the slower each write to it. */
const LOANS = 8
/** Events of a gateway come in one batch, or each in the next one. */
const PACES = ['at once', 'one by one']

t.test('the right balance stands, whatever a gateway says of a payment and when', async t => {
  const service = await reversing(t)
  const all = PACES.flatMap((pace, p) =>
    SEQUENCES.map((sequence, n) => {
      const isOfB = sequence.events('1', '').some(event => !('event' in event))
      const id = isOfB ? `${900 + 100 * p + n}` : `pay_${p}${n}`
      const loan = `L-${1 + (n % LOANS)}`
      return { ...sequence, pace, id, loan, isOfB, events: sequence.events(id, loan) }
    }),
  )
  for (let n = 2; n <= LOANS; n++) await service.loan(`L-${n}`)
  for (const { id, loan, isOfB } of all)
    await service.signed(isOfB ? successB({ id: Number(id), loan }) : capturedA({ id, loan }))
  await service.batch()
  const most = Math.max(...all.map(({ events }) => events.length))
  for (let i = 0; i < most; i++) {
    for (const { pace, events } of all) {
      if (pace === 'one by one' && events[i]) await service.signed(events[i] as object)
      if (pace === 'at once' && i === 0) for (const event of events) await service.signed(event)
    }
    await service.batch()
  }
  const standing = await service.standing()
  for (const { what, pace, id, stands } of all) {
    const [held = 0] = Object.entries(standing).flatMap(([name, amount]) =>
      name.replace(/-r\d+$/, '') === id ? [amount] : [],
    )
    t.equal(held, stands, `${what}, ${pace}`)
  }
})
