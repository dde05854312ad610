import t from 'tap'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { startWithConsole } from '../../support/console/console.ts'
import { capturedA, signedA } from '../../support/payments/gateway-events.ts'
import { ownIds, withLedger } from '../../support/payments/payments.ts'

/** LENDER_02 and LENDER_03 validate signatures, each with its own secret; LENDER_04 does not. */
const own = (secretEnv: string) => ({ gateway_a: { validateSignature: true, secretEnv } })
const LENDERS_FILE = lendersFile(t, { LENDER_02: own('S2'), LENDER_03: own('S3') })
const service = withLedger(await startWithConsole(t, { LENDERS_FILE, S2: 's2', S3: 's3' }))
for (const n of [2, 4]) await service.loan(`L-of-${n}`, { product: n })

/** A payment without a loan's name whose event names this mandate. */
async function paid(token_id: string, { lender, secret }: { lender?: string; secret?: string }) {
  const { id } = ownIds()
  const body = JSON.stringify(capturedA({ id, payment: { token_id } }))
  const headers = secret === undefined ? {} : signedA(secret, body)
  await service.webhook('gateway_a', body, { ...(lender && { lender }), headers })
  await service.batch()
  return id
}

const remember = (id: string, external_loan_id: string) =>
  service.call('POST', `/api/payments/gateway_a/${id}/assign`, {
    external_loan_id,
    remember: ['mandate', 'order'],
  })
/** The loans to which this mandate is registered. */
async function loansOf(mandate: string) {
  const { body } = await service.call('GET', '/api/references?kind=mandate')
  return body.references
    .filter(({ value }: any) => value === mandate)
    .map(({ external_loan_id }: any) => external_loan_id)
}

for (const [what, sender] of [
  ['nothing proves', {}],
  ['another lender proves', { lender: 'LENDER_03', secret: 's3' }],
] as const)
  t.test(`a reference of an event that ${what} is not remembered`, async t => {
    const id = await paid('token_victim', sender)
    const detail =
      'No event that the lender of L-of-2 takes as proved has the mandate token_victim: leave mandate out of remember'
    t.match(await remember(id, 'L-of-2'), { status: 409, body: { detail } })
    const { payment } = await service.payment(id)
    t.match(payment, { reason: 'no_loan_named', external_loan_id: null }, 'nor is it assigned')
    const each = { gateway: 'gateway_a', gateway_payment_id: id, external_loan_id: 'L-of-2' }
    const list = await service.call('POST', '/api/payments/assign', {
      assignments: [{ ...each, remember: ['mandate'] }, each],
    })
    t.match(list.body.results, [{ status: 409, detail }, { status: 200 }])
    t.same(await loansOf('token_victim'), [])
  })

t.test('an unproven event’s reference is remembered where none has to be proven', async t => {
  const id = await paid('token_4', {})
  t.match(await remember(id, 'L-of-4'), { status: 200 })
  t.same(await loansOf('token_4'), ['L-of-4'])
})

t.test('a reference is not remembered for a loan that the ledger does not have', async t => {
  const id = await paid('token_none', { lender: 'LENDER_02', secret: 's2' })
  const detail = /^The ledger has no loan L-none/
  t.match(await remember(id, 'L-none'), { status: 409, body: { detail } })
  await service.faults([{ kind: 'error', status: 502, match: { on: 'reads' } }])
  t.match(await remember(id, 'L-of-2'), { status: 503 })
  const other = await paid('token_other', {})
  const each = { gateway: 'gateway_a', external_loan_id: 'L-of-2' }
  const list = await service.call('POST', '/api/payments/assign', {
    assignments: [
      { ...each, gateway_payment_id: id, remember: ['mandate'] },
      { ...each, gateway_payment_id: other },
    ],
  })
  const codes = list.body.results.map(({ status }: any) => status)
  t.same(codes, [503, 200], 'an item of a list fails alone')
  await service.faults([])
  t.match(await remember(id, 'L-of-2'), { status: 200 })
})

t.test('the console offers to remember only references that may be proved', async t => {
  for (const [sender, isOffered] of [
    [{}, false],
    [{ lender: 'LENDER_02', secret: 's2' }, true],
    [{ lender: 'LENDER_04' }, true],
  ] as const) {
    const id = await paid('token_shown', sender)
    const { text } = await service.operator(`/console/payments/gateway_a/${id}`)
    t.match(text, 'Assign to a loan')
    t.equal(text.includes('name="remember_mandate"'), isOffered, JSON.stringify(sender))
  }
})
