import t from 'tap'
import { capturedA } from '../support/gateway-events.ts'
import { approval, clientData, DAY, loanData } from '../support/loans.ts'
import { ending, submit } from '../support/operations.ts'
import { paymentService } from '../support/payments.ts'

const IDS = [
  'LN/2026/0001',
  'L 1 #@|()[]{}"\'<>&+=?,*!$~:^`',
  'ऋण-१ 😀',
  'a\\b;c%d_e',
  '...',
  'x'.repeat(100),
]

t.test('an external id may be any text of the caller’s', async t => {
  const service = await paymentService(t)
  const { call } = service
  const run = async (status: string, data: object) => ending(call, await submit(call, status, data))
  const succeed = async (status: string, data: object) => {
    const record = await run(status, data)
    t.match(record, { status: 'success' }, `${status} ${JSON.stringify(data)}`)
    return record
  }
  // For the ledger's query of clients, the ids above are patterns that these match.
  await succeed('CLIENT_CREATE', clientData('a\\b;cXXdYe'))
  for (const id of IDS) {
    await succeed('CLIENT_CREATE', clientData(id))
    await succeed('CLIENT_UPDATE', { externalId: id, firstname: 'Meera' })
    await succeed('LOAN_CREATE', loanData(id, id))
    await succeed('LOAN_UPDATE', { externalId: id, principal: 40_000 })
    await succeed('LOAN_APPROVE', approval(id))
    const disbursed = { external_loan_id: id, actualDisbursementDate: DAY, utr_payment_id: 'U1' }
    const { success_response } = await succeed('LOAN_DISBURSE', disbursed)
    t.equal(success_response.resourceExternalId !== undefined, true)
    const query = `external_id=${encodeURIComponent(id)}&operation_type=LOAN_DISBURSE`
    const { body } = await call('GET', `/api/ledger/operations?${query}`)
    t.same(
      body.operations.map((one: any) => one.external_id),
      [id],
    )
    const later = `${id.slice(0, 97)}-2`
    await succeed('LOAN_CREATE', loanData(later, id))
    await succeed('LOAN_DELETE', { external_loan_id: later })
  }
  await service.webhook('gateway_a', capturedA({ id: 'pay_1', loan: 'LN/2026/0001' }), {
    lender: 'LENDER_01',
  })
  await service.batch()
  t.match((await service.payment('pay_1')).payment, { state: 'posted', reason: null })

  t.test('what the ledger does not have is refused as it would be by its path', async t => {
    for (const [status, data] of Object.entries({
      LOAN_APPROVE: approval('L/404'),
      LOAN_DELETE: { external_loan_id: 'L/404' },
      LOAN_CREATE: loanData('L-new', 'C/404'),
      CLIENT_UPDATE: { externalId: 'C/404', firstname: 'Meera' },
    })) {
      const record = await run(status, data)
      t.match(record, { status: 'failed', failure_response: { httpStatusCode: '404' } }, status)
    }
  })

  t.test('control characters and the steps of paths are refused', async t => {
    for (const externalId of ['.', '..', 'a\nb', '\u007f', ' ', 'x'.repeat(101)]) {
      const data = clientData(externalId)
      const { status } = await call('POST', '/api/ledger/operate', {
        status: 'CLIENT_CREATE',
        data,
      })
      t.equal(status, 400, JSON.stringify(externalId))
    }
  })
})
