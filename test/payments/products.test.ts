import t, { type Test } from 'tap'
import { openLedger } from '../../src/ledger/client.ts'
import { openReference } from '../../src/ledger/reference.ts'
import { openSlots } from '../../src/ledger/slots.ts'
import { warnOfMissingProducts } from '../../src/operations/warn-of-missing-products.ts'
import { capturedA } from '../support/gateway-events.ts'
import { lendersFile } from '../support/lenders-file.ts'
import { control } from '../support/loans.ts'
import { paymentService } from '../support/payments.ts'
import { until } from '../support/until.ts'

const CHECKS = { gateway_a: { posting: 'review', allowedCidrs: ['10.0.0.0/8'] } }

/** A loan of the ledger's product LENDER_02. */
async function withProducts(t: Test, product: string | string[], checks: object = CHECKS) {
  const LENDERS_FILE = lendersFile(t, { LENDER_02: { product, ...checks } })
  const service = await paymentService(t, { LENDERS_FILE })
  await service.loan('L-1')
  return service
}

t.test(
  'a payment for a loan whose product no lender has is posted only by an operator',
  async t => {
    const service = await withProducts(t, 'RENAMED')
    await service.webhook('gateway_a', capturedA({ loan: 'L-1' }))
    await service.batch()
    t.match(await service.payment('pay_1'), {
      payment: {
        state: 'suspense',
        reason: 'lender_mismatch',
        detail: /the loan’s product LENDER_02/,
      },
    })
    await service.assign('pay_1', 'L-1')
    t.match(await service.batch(), { posted: 1 })
  },
)

t.test('the checks of a lender with several products apply to the loans of each', async t => {
  const service = await withProducts(t, ['NEW', 'LENDER_02'], {
    gateway_a: { posting: 'review', allowedCidrs: ['127.0.0.0/8'] },
  })
  await service.webhook('gateway_a', capturedA({ loan: 'L-1' }), { lender: 'LENDER_02' })
  await service.batch()
  t.match(await service.payment('pay_1'), {
    payment: { state: 'suspense', reason: 'awaiting_review' },
  })
})

t.test(
  'a worker warns of products that the ledger lacks, and a hung read delays no stop',
  async t => {
    const { config, ledger } = await withProducts(t, ['LENDER_02', 'LATER'], {})
    const client = openLedger(config)
    t.teardown(() => client.cutOff())
    const warnings: string[] = []
    const start = () =>
      warnOfMissingProducts({
        config,
        reference: openReference(client, config),
        slots: openSlots(2),
        log: { warn: (line: string) => void warnings.push(line) } as any,
      })
    const first = start()
    await until(async () => warnings.length > 0, 'the warning')
    await first.stop()
    t.same(warnings, [
      'The ledger has no product LATER (LENDER_02): create it there, or set product in LENDERS_FILE',
    ])
    await control({ ledger }, 'PUT', '/faults', [{ kind: 'hang' }])
    const second = start()
    await until(async () => (await control({ ledger }, 'GET', '/counters')).faults.hang === 1)
    await second.stop()
    t.equal(warnings.length, 1)
  },
)
