import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { readRepayments } from '../../src/books/readback/read-repayments.ts'
import { readConfig } from '../../src/config/config.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { NO_DATABASE, testEnv } from '../support/service.ts'

const PAYMENT = {
  id: '1',
  loan: 'l-1',
  paymentId: 'pay_1',
  operationId: '1',
  externalId: 'gateway_a-pay_1',
  ledgerTransactionId: 7,
  amount: '100',
  days: ['05 February 2026'],
}
const REPAYMENT = { id: 7, externalId: PAYMENT.externalId, amount: 100, date: [2026, 2, 5] }

t.test('a ledger that ignores case in external ids has its repayments read back', async t => {
  const loan = { id: 1, externalId: 'L-1', transactions: [REPAYMENT] }
  const server = createServer((_, response) => response.end(JSON.stringify(loan)))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url)))
  t.teardown(() => ledger.cutOff())
  t.match(await readRepayments(ledger, 'l-1', [PAYMENT]), [{ reason: null, amount: null }])
  await t.rejects(readRepayments(ledger, 'l-2', [PAYMENT]), 'another loan')
})

t.test('an undone loan’s repayment is missing, whether its list is empty or absent', async t => {
  for (const list of [{ transactions: [] }, {}]) {
    const body = { id: 1, externalId: 'L-1', timeline: {}, ...list }
    const read = async (path: string) =>
      String(path).includes('/transactions/')
        ? { outcome: 'refused', status: 404, method: 'GET', path, body: {}, message: 'absent' }
        : { outcome: 'done', status: 200, method: 'GET', path, body, message: '' }
    const ledger = { read } as unknown as Parameters<typeof readRepayments>[0]
    t.match(await readRepayments(ledger, 'L-1', [PAYMENT]), [{ reason: 'missing_at_ledger' }])
  }
})
