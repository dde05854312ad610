import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import t from 'tap'

t.test('npm run demo takes a client to a repayment in the ledger’s books', async t => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('test/demo.ts')], {
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  t.match(stdout, /the ledger's books: repayment 4584/)
  t.match(stdout, /All as promised/)
})
