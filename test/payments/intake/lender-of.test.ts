import t from 'tap'
import { lendersFrom } from '../../../src/config/lenders.ts'
import { GATEWAYS } from '../../../src/payments/gateways/gateways.ts'
import { lenderOf } from '../../../src/payments/intake/lender-of.ts'

const noSettings = { secretsIn: () => [], valueIn: () => '' }
const lenders = lendersFrom(
  {
    LENDER_02: { gateway_a: { accounts: ['acc_2', 'acc_shared'] } },
    LENDER_06: { gateway_a: { accounts: ['acc_6', 'acc_shared', '12345'] } },
  },
  GATEWAYS.map(name => ({ name, secrets: [] })),
  noSettings,
)
const of = (inUrl: unknown[], accounts: unknown[] = [], inNotes: unknown[] = []) =>
  lenderOf(lenders, 'gateway_a', { inUrl, accounts, inNotes })

t.test('the URL names the lender, else the account, else the notes', async t => {
  t.equal(of(['LENDER_07']), 'LENDER_07')
  t.equal(of([], ['acc_2']), 'LENDER_02')
  t.equal(of([], [12345]), 'LENDER_06')
  t.equal(of([], ['acc_9'], ['LENDER_03']), 'LENDER_03')
  t.equal(of([''], [undefined], [null, 'LENDER_03']), 'LENDER_03')
})

t.test('an event that names no lender, or one that is not configured, is UNKNOWN', async t => {
  t.equal(of([]), 'UNKNOWN')
  t.equal(of(['LENDER_99'], ['acc_2']), 'UNKNOWN')
  t.equal(of(['lender_02']), 'UNKNOWN')
  t.equal(of(['__proto__']), 'UNKNOWN')
  t.equal(of([], [], [{ a: 1 }]), 'UNKNOWN')
  const noText = { toString: 1, valueOf: 1 }
  t.equal(of([], [noText], [noText]), 'UNKNOWN')
  t.equal(of(['LENDER_02'], [noText], [noText]), 'LENDER_02')
  t.equal(of([], [], ['my bank']), 'UNKNOWN')
})

t.test(
  'two lenders that contradict each other are UNKNOWN; a name that is no lender’s contradicts none',
  async t => {
    t.equal(of(['LENDER_02', 'LENDER_06']), 'UNKNOWN')
    t.equal(of(['LENDER_02'], ['acc_6']), 'UNKNOWN')
    t.equal(of(['LENDER_02'], ['acc_2'], ['LENDER_06']), 'UNKNOWN')
    t.equal(of([], ['acc_2'], ['LENDER_06']), 'UNKNOWN')
    t.equal(of(['LENDER_02'], ['acc_9'], ['my bank']), 'LENDER_02')
  },
)

t.test('an account that lenders share names none of them, and contradicts none', async t => {
  t.equal(of([], ['acc_shared']), 'UNKNOWN')
  t.equal(of(['LENDER_06'], ['acc_shared']), 'LENDER_06')
  t.equal(of(['LENDER_07'], ['acc_shared']), 'UNKNOWN')
})

t.test('no lender can be called UNKNOWN, the raw table of events without a lender', async t => {
  t.throws(() => lendersFrom({ UNKNOWN: {} }, [], noSettings))
})
