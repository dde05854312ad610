import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { newId } from '../../src/ids.ts'
import { booksOf } from '../support/books.ts'
import { makePortfolio } from '../support/portfolio.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const { loansCsv, repaymentsCsv } = makePortfolio({ clients: 2, loans: 6, repayments: 20 }, 3)

t.test(
  'npm run migrate-portfolio takes files to the ledger, loans first, and says what became of them',
  async t => {
    const service = await startTestService(t)
    const folder = t.testdir({ 'loans.csv': loansCsv, 'repayments.csv': repaymentsCsv })
    const file = (name: string) => join(folder, name)
    const run = (...args: string[]) => migratePortfolio(service.url, args)

    const dry = await run('--dry-run', file('loans.csv'))
    t.match(dry, { code: 0, output: /6 rows would be written, 0 are in the ledger already/ })
    t.same((await booksOf(service.ledger.controlUrl)).loans, [], 'a dry run writes nothing')

    const whole = await run(file('repayments.csv'), file('loans.csv'))
    t.equal(whole.code, 0)
    t.match(whole.output, /loans\.csv: completed, 6 done[\s\S]*repayments\.csv: completed, 20 done/)
    t.equal((await booksOf(service.ledger.controlUrl)).loans.length, 6)

    const [header, first] = repaymentsCsv.split('\n')
    writeFileSync(
      file('bad.csv'),
      `${header}\n${first}\n${first?.replace(/,.*/, ',32 March 2026,1,x,,')}\n`,
    )
    const bad = await run(file('bad.csv'))
    t.match(bad, { code: 1, output: /2 rows, 1 of them invalid[\s\S]*bad\.errors\.csv/ })
    t.match(readFileSync(file('bad.errors.csv'), 'utf8'), /32 March 2026.*transaction_date/)
    const rest = await run('--skip-invalid', file('bad.csv'))
    t.match(rest, { code: 0, output: /completed, 1 done/ })
  },
)

t.test('npm run migrate-portfolio says what is missing', async t => {
  t.match(await migratePortfolio('http://127.0.0.1:1', []), {
    code: 1,
    output: /at least one file/,
  })
  const folder = t.testdir({ 'loans.csv': loansCsv })
  const away = await migratePortfolio('http://127.0.0.1:1', [join(folder, 'loans.csv')])
  t.match(away, { code: 1, output: /does not answer .*is it running/ })
})

t.test('npm run migrate-portfolio takes no refusal for the file of errors', async t => {
  const server = createServer((request, response) => {
    const isErrors = request.url?.endsWith('errors.csv')
    const answer = isErrors
      ? { detail: 'it is stopping' }
      : { migration_id: newId(), rows: 1, invalid_rows: 1 }
    request.resume().on('end', () => {
      response.writeHead(isErrors ? 503 : 202, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const { port } = server.address() as AddressInfo
  const refused = await migratePortfolio(`http://127.0.0.1:${port}`, [file])
  t.match(refused, { code: 1, output: /it is stopping/ })
  t.notOk(existsSync(file.replace('.csv', '.errors.csv')))
})

function migratePortfolio(url: string, args: string[]) {
  const env = { PATH: process.env.PATH, LOANOPS_URL: url, INTERNAL_TOKEN: TOKEN }
  const command = ['src/main.ts', 'migrate-portfolio', ...args]
  return new Promise<{ code: number; output: string }>(resolve => {
    execFile(process.execPath, command, { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
}
