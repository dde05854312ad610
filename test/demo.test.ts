import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'

t.test(
  'npm run demo takes a client to a repayment in the ledger’s books, and to a balanced day',
  async t => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('test/demo.ts')], {
      encoding: 'utf8',
    })
    t.equal(status, 0, stderr)
    t.match(stdout, /the ledger's books: repayment 4584/)
    t.match(stdout, /reconciliation of 2026-02-13: captured 5584.00, posted 5584.00, balanced/)
    t.match(stdout, /All as promised/)
  },
)
