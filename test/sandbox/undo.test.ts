import t from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { DATES, driver } from '../support/ledger/ledger-driver.ts'

t.test('of two undos with one reversal id the second is refused and undoes nothing', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { loan, call, repay, repayment } = driver(sandbox.url)
  await loan('L-1')
  const undo = (externalId: string) =>
    call('POST', `/loans/external-id/L-1/transactions/external-id/${externalId}?command=undo`, {
      transactionDate: '2024-02-15',
      transactionAmount: 0,
      reversalExternalId: 'V-1',
      ...DATES,
    })
  for (const externalId of ['R-1', 'R-2']) await repay('L-1', externalId)
  t.equal((await undo('R-1')).status, 200)
  t.equal((await undo('R-2')).status, 403)
  t.match(await repayment('L-1', 'R-2'), { body: { manuallyReversed: false } })
})
