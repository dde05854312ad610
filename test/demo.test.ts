import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'

t.test('npm run demo takes a client to a repayment in the ledger and a balanced day', async t => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('test/demo.ts')], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  t.match(stdout, /names no loan: 1,500.00 posted by its reference/)
  t.match(stdout, /the ledger's books: repayment 4584/)
  t.match(stdout, /reconciliation of 2026-02-13: captured 7084.00, posted 7084.00, balanced/)
  t.match(stdout, /refund: 1,000.00 went back/)
  t.match(stdout, /All as promised/)
})
