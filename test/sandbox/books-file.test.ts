import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { booksAt, driver } from '../support/ledger/ledger-driver.ts'
import { processEnv } from '../support/process.ts'

const ENTRY = fileURLToPath(new URL('../support/sandbox/sandbox-process.ts', import.meta.url))

async function start(t: Test, booksFile: string) {
  const child: ChildProcess = spawn(process.execPath, [ENTRY, '0', booksFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: processEnv,
  })
  t.teardown(() => child.kill('SIGKILL'))
  if (!child.stdout) throw new Error('no output')
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url, controlUrl } = JSON.parse(line)
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { ...driver(url), books: () => booksAt(controlUrl), kill }
}

t.test('every answered write is in the books exactly once after a kill -9', async t => {
  const booksFile = join(t.testdir(), 'books')
  const first = await start(t, booksFile)
  for (const loan of ['L-0', 'L-1', 'L-2', 'L-3']) await first.loan(loan)
  const answered: string[] = []
  const callers = [0, 1, 2, 3].map(async loan => {
    for (let i = 0; ; i++) {
      const externalId = `R-${loan}-${i}`
      const reply = await first
        .repay(`L-${loan}`, externalId, { key: externalId }, 1)
        .catch(() => {})
      if (!reply) return
      answered.push(externalId)
      if (answered.length === 200) await first.kill()
    }
  })
  await Promise.all(callers)

  const second = await start(t, booksFile)
  const { transactions, log } = await second.books()
  const found = transactions.map(({ externalId }) => externalId)
  t.strictSame(
    answered.filter(externalId => !found.includes(externalId)),
    [],
  )
  t.equal(new Set(found.filter(Boolean)).size, found.filter(Boolean).length)
  t.equal(log.length, 16 + found.filter(Boolean).length, 'the log is there too')
  const [known = ''] = answered
  const again = await second.repay('L-0', known, { key: known }, 1)
  t.match(again, { status: 200, fromStore: true, body: { resourceExternalId: known } })
})

t.test('a last line cut off by a kill is ignored', async t => {
  const booksFile = join(t.testdir(), 'books')
  const first = await start(t, booksFile)
  await first.loan('L-1')
  await first.repay('L-1', 'R-1', { key: 'a' }, 1)
  await first.kill()
  appendFileSync(booksFile, '{"transactions":[{"id":9')

  const second = await start(t, booksFile)
  t.match(await second.repay('L-1', 'R-2', { key: 'b' }, 1), { status: 200 })
  await second.kill()

  const third = await start(t, booksFile)
  t.equal((await third.repayment('L-1', 'R-2')).status, 200)
  const loan = await third.call('GET', '/loans/external-id/L-1')
  t.equal(loan.body.summary.totalRepayment, 2)
})
