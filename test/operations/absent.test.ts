import t from 'tap'
import { clientData, DAY, loanData } from '../support/loans.ts'
import { startTestService } from '../support/service.ts'

const NOT_CLEARED = 'is empty, but cannot be cleared this way; without it, it stays as it is'

t.test('what an older, laxer service took is taken as what it means', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const send = (status: string, data: object) =>
    call('POST', '/api/ledger/operate', { status, data })
  const taken = async (status: string, data: object) => {
    const { body } = await send(status, data)
    const id = encodeURIComponent(body.tracking_id)
    return (await call('GET', `/api/ledger/operations/${id}`)).body.data
  }
  const disbursement = { external_loan_id: 'L-1', actualDisbursementDate: DAY }
  const loan = loanData('L-1', 'C-1')

  t.test('null in an optional member, and an empty text in a new record, are absent', async t => {
    for (const nothing of [null, '', ' \u200b'])
      t.same(
        await taken('CLIENT_CREATE', {
          ...clientData('C-1'),
          mobileNo: nothing,
          emailAddress: null,
        }),
        clientData('C-1'),
      )
    t.same(await taken('LOAN_CREATE', { ...loan, loanTermFrequencyType: '' }), loan)
    t.same(
      await taken('LOAN_DISBURSE', {
        ...disbursement,
        transactionAmount: null,
        utr_payment_id: '',
        note: '',
      }),
      disbursement,
    )
    t.same(await taken('LOAN_UPDATE', { externalId: 'L-1', principal: 1, submittedOnDate: null }), {
      externalId: 'L-1',
      principal: 1,
    })
    const pause = await call('POST', '/api/ledger/pause', { reason: 'for a test', until: null })
    t.equal(pause.status, 200)
  })

  t.test('null where a value is required is refused, and so is an amount of no text', async t => {
    const nobody = await send('CLIENT_CREATE', { ...clientData('C-1'), firstname: null })
    t.equal(nobody.status, 400)
    const { status } = await send('LOAN_DISBURSE', { ...disbursement, transactionAmount: '' })
    t.equal(status, 400)
    const nothing = await send('CLIENT_UPDATE', { externalId: 'C-1', firstname: null })
    t.match(nothing.body.errors, [{ message: /at least one of/ }])
  })

  t.test('an empty text in an update is refused: nothing is cleared this way', async t => {
    for (const [status, members] of Object.entries({
      CLIENT_UPDATE: ['firstname', 'lastname', 'mobileNo', 'emailAddress', 'activationDate'],
      LOAN_UPDATE: ['principal', 'submittedOnDate', 'loanTermFrequencyType', 'numberOfRepayments'],
    }))
      for (const member of members) {
        const { body } = await send(status, { externalId: 'X-1', [member]: '' })
        t.same(body.errors, [{ path: `/data/${member}`, message: NOT_CLEARED }], member)
      }
  })

  t.test('the month of a day may be in any case', async t => {
    for (const day of ['05 MARCH 2026', '05 march 2026', ' 05 mARCH 2026'])
      t.match(await taken('LOAN_DISBURSE', { ...disbursement, actualDisbursementDate: day }), {
        actualDisbursementDate: '05 March 2026',
      })
  })

  t.test('an amount within a millionth of two decimals is that amount', async t => {
    for (const [sent, amount] of [
      [0.1 + 0.2, 0.3],
      [33333.329999999994, 33333.33],
      [100.000001, 100],
      [999999999.9900001, 999999999.99],
    ] as const)
      t.match(await taken('LOAN_DISBURSE', { ...disbursement, transactionAmount: sent }), {
        transactionAmount: amount,
      })
    for (const sent of [100.0000011, 1.005, 0.0000001]) {
      const { status } = await send('LOAN_DISBURSE', { ...disbursement, transactionAmount: sent })
      t.equal(status, 400, String(sent))
    }
  })

  t.test('a rate is rounded to six decimals, half to even', async t => {
    for (const [sent, rate] of [
      [1.1234565, 1.123456],
      [1.1234575, 1.123458],
      [18.333333333333332, 18.333333],
      [1e-7, 0],
    ])
      t.match(await taken('LOAN_CREATE', { ...loan, interestRatePerPeriod: sent }), {
        interestRatePerPeriod: rate,
      })
  })
})
