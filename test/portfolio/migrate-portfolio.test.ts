import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { newId } from '../../src/ids.ts'
import { migratePortfolio } from '../../src/portfolio/command/migrate-portfolio.ts'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { MAIN } from '../support/main.ts'
import { makePortfolio } from '../support/portfolio/portfolio.ts'
import { processEnv } from '../support/process.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const { loansCsv, repaymentsCsv } = makePortfolio({ clients: 2, loans: 6, repayments: 20 }, 3)

t.test('npm run migrate-portfolio runs the files, loans first, and reports results', async t => {
  const service = await startTestService(t)
  const folder = t.testdir({ 'loans.csv': loansCsv, 'repayments.csv': repaymentsCsv })
  const file = (name: string) => join(folder, name)
  const run = (...args: string[]) => runCommand(service.url, args)

  const dry = await run('--dry-run', file('loans.csv'))
  t.match(dry, { code: 0, output: /6 rows would be written, 0 are already in the ledger/ })
  t.same((await booksAt(service.ledger.controlUrl)).loans, [], 'a dry run writes nothing')

  const whole = await run(file('repayments.csv'), file('loans.csv'))
  t.equal(whole.code, 0)
  t.match(whole.output, /loans\.csv: completed, 6 done[\s\S]*repayments\.csv: completed, 20 done/)
  t.equal((await booksAt(service.ledger.controlUrl)).loans.length, 6)

  const [header, first] = repaymentsCsv.split('\n')
  writeFileSync(
    file('bad.csv'),
    `${header}\n${first}\n${first?.replace(/,.*/, ',32 March 2026,1,x,,')}\n`,
  )
  const bad = await run(file('bad.csv'))
  t.match(bad, { code: 1, output: /2 rows, 1 of them invalid[\s\S]*bad\.errors\.csv/ })
  t.match(readFileSync(file('bad.errors.csv'), 'utf8'), /32 March 2026.*transaction_date/)
  rmSync(file('bad.errors.csv'))
  const rest = await run('--skip-invalid', file('bad.csv'))
  t.match(rest, { code: 0, output: /left out .*bad\.errors\.csv[\s\S]*completed, 1 done/ })
  t.match(readFileSync(file('bad.errors.csv'), 'utf8'), /32 March 2026.*transaction_date/)
})

t.test('a dry run of loans and their repayments predicts a run of both files', async t => {
  const service = await startTestService(t)
  const folder = t.testdir({ 'loans.csv': loansCsv, 'repayments.csv': repaymentsCsv })
  const files = ['repayments.csv', 'loans.csv'].map(name => join(folder, name))
  const dry = await runCommand(service.url, ['--dry-run', ...files])
  t.equal(dry.code, 0)
  t.match(dry.output, /6 rows would be written[\s\S]*20 rows would be written.* 0 would be refused/)
  t.same((await booksAt(service.ledger.controlUrl)).loans, [])
})

t.test('npm run migrate-portfolio reports what is missing', async t => {
  t.match(await runCommand('http://127.0.0.1:1', []), { code: 1, output: /at least one file/ })
  t.match(await runCommand('loanops:3000', ['loans.csv']), {
    code: 1,
    output: /LOANOPS_URL is invalid/,
  })
  const none = await runCommand('http://127.0.0.1:1', ['none.csv'])
  t.match(none, { code: 1, output: /There is no file none\.csv/ })
  const folder = t.testdir({ 'loans.csv': loansCsv })
  const whole = await runCommand('http://127.0.0.1:1', [folder])
  t.match(whole, { code: 1, output: /This is a folder, name the files in it: / })
  const away = await runCommand('http://127.0.0.1:1/', [join(folder, 'loans.csv')])
  t.match(away.output, 'http://127.0.0.1:1/api does not answer')
  t.match(away, { code: 1, output: /does not answer .*is the service running/ })
})

t.test('npm run migrate-portfolio says that it cannot read a pipe', async t => {
  const { url, calls } = await startAnswering(t, {})
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const line = `"${process.execPath}" "${MAIN}" migrate-portfolio <(cat "${file}")`
  const command = spawn('bash', ['-c', line], { env: envFor(url) })
  t.match(await text(command.stderr), /\/dev\/fd\/\d+ is a pipe, which cannot be read twice/)
  t.equal(calls(), 0)
})

t.test('npm run migrate-portfolio waits while the service is away during a run', async t => {
  const ended = { status: 'completed', rows: 1, valid_rows: 1, done: 1, failed: 0, stopped: 0 }
  const record = { migration_id: newId(), invalid_rows: 0, ...ended }
  let polls = 0
  const { url } = await startAnswering(t, record, (request, response) => {
    if (request.method !== 'GET' || ++polls > 2) return false
    if (polls === 1) response.writeHead(503, { 'content-type': 'text/html' }).end('<html>')
    else response.destroy()
    return true
  })
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  t.match(await runCommand(url, [file]), { code: 0, output: /completed, 1 done/ })
})

t.test('npm run migrate-portfolio sends its token to no other host', async t => {
  const other = await startAnswering(t, { migration_id: newId() })
  const { url } = await startAnswering(t, {}, ({ url }, response) =>
    Boolean(response.writeHead(301, { location: other.url + url }).end()),
  )
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const refused = await runCommand(url, [file])
  t.match(refused, { code: 1, output: /redirects to http.*: correct LOANOPS_URL/ })
  t.equal(other.calls(), 0)
})

t.test('npm run migrate-portfolio does not save an error response as the errors file', async t => {
  const server = createServer((request, response) => {
    const isErrors = request.url?.endsWith('errors.csv')
    const answer = isErrors
      ? { detail: 'this process is shutting down' }
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
  const refused = await runCommand(`http://127.0.0.1:${port}`, [file])
  t.match(refused, { code: 1, output: /this process is shutting down/ })
  t.notOk(existsSync(file.replace('.csv', '.errors.csv')))
})

t.test('only the owner can read an errors file, even if it replaces a readable one', async t => {
  const record = { migration_id: newId(), rows: 1, invalid_rows: 1 }
  const { url } = await startAnswering(t, record)
  const folder = t.testdir({ 'new.csv': loansCsv, 'old.csv': loansCsv, 'old.errors.csv': 'x' })
  chmodSync(join(folder, 'old.errors.csv'), 0o644)
  for (const name of ['new', 'old']) {
    t.match(await runCommand(url, [join(folder, `${name}.csv`)]), { code: 1 })
    const errors = join(folder, `${name}.errors.csv`)
    t.equal(statSync(errors).mode & 0o777, 0o600, name)
    t.match(readFileSync(errors, 'utf8'), record.migration_id)
  }
})

t.test('an errors file that somebody has corrected is kept, and migrated only alone', async t => {
  const { url } = await startAnswering(t, { migration_id: newId(), rows: 1, invalid_rows: 1 })
  const folder = t.testdir({ 'all.csv': loansCsv, 'all.errors.csv': 'corrected' })
  const [file, errors] = [join(folder, 'all.csv'), join(folder, 'all.errors.csv')]
  utimesSync(file, 1_000, 1_000)
  t.match(await runCommand(url, [file, errors]), { code: 1, output: /errors are saved: rename it/ })
  t.equal(readFileSync(errors, 'utf8'), 'corrected')
  const { output } = await runCommand(url, [file])
  const [, kept = ''] = /has changed .* and is now (\S+)/.exec(output) ?? []
  t.equal(readFileSync(kept, 'utf8'), 'corrected')
  t.not(readFileSync(errors, 'utf8'), 'corrected')
  t.notMatch(
    (await runCommand(url, [file])).output,
    'has changed',
    'what nobody touched is replaced',
  )
  writeFileSync(errors, 'corrected again')
  utimesSync(errors, 2_000, 2_000)
  utimesSync(file, 3_000, 3_000)
  t.match((await runCommand(url, [file])).output, 'has changed', 'whenever the file was saved')
})

t.test('findings of a dry run that are not printed are saved, and the command says so', async t => {
  const finding = { line: 2, external_loan_id: 'L-1', finding: 'refused', reason: 'no such loan' }
  const dry_run = { would_change: 0, in_ledger: 0, differs: 1, refused: 148, unknown: 1 }
  const findings = Array.from({ length: 100 }, () => finding)
  const ended = { status: 'uploaded', rows: 150, valid_rows: 150, invalid_rows: 0 }
  const record = { migration_id: newId(), ...ended, dry_run: { ...dry_run, findings } }
  const { url } = await startAnswering(t, record)
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const { code, output } = await runCommand(url, ['--dry-run', file])
  t.equal(code, 1)
  t.match(output, /150 findings in all: .*loans\.findings\.csv lists them all/)
  const saved = file.replace('.csv', '.findings.csv')
  t.equal(statSync(saved).mode & 0o777, 0o600)
  t.match(readFileSync(saved, 'utf8'), record.migration_id)
})

t.test('migrate-portfolio stops at a run that does not end cleanly', async t => {
  const clean = { status: 'completed', done: 2, failed: 0, stopped: 0, dry_run: null }
  const looked = { would_change: 2, in_ledger: 0, differs: 0, refused: 0, unknown: 0, findings: [] }
  const dry = (found: object) => ({ status: 'uploaded', dry_run: { ...looked, ...found } })
  const [run, dryRun] = [{ isDryRun: false }, { isDryRun: true }]
  const unclean: [string, object, { isDryRun: boolean }, RegExp][] = [
    ['cancelled', { status: 'cancelled', done: 1 }, run, /is cancelled, and 1 rows remain/],
    ['failed', { failed: 1, done: 1 }, run, /the run is completed; the rows that failed are in/],
    ['stopped', { stopped: 1, done: 1 }, run, /the rows that failed are in/],
    ['failed beside invalid', { failed: 1, invalid_rows: 3 }, run, /the rows that failed are in/],
    ['differs', dry({ differs: 1 }), dryRun, /rows that are invalid, differ.*: 1$/m],
    ['would be refused', dry({ refused: 1 }), dryRun, /rows that are invalid, differ.*: 1$/m],
    ['not looked at', dry({ unknown: 1 }), dryRun, /rows that are invalid, differ.*: 1$/m],
    ['invalid', { ...dry({}), invalid_rows: 3 }, dryRun, /rows that are invalid, differ.*: 3$/m],
    ['dry run cancelled', { status: 'uploaded' }, dryRun, /the dry run was cancelled/],
  ]
  const folder = t.testdir({ 'loans.csv': loansCsv, 'repayments.csv': repaymentsCsv })
  const files = ['loans.csv', 'repayments.csv'].map(name => join(folder, name))
  for (const [how, changes, wanted, message] of unclean) {
    const record = { rows: 2, valid_rows: 2, invalid_rows: 0, ...clean, ...changes }
    const service = await startAnswering(t, { ...record, migration_id: newId() })
    const env = { LOANOPS_URL: service.url, INTERNAL_TOKEN: TOKEN }
    const migrating = migratePortfolio(env, files, { ...wanted, skipInvalid: true })
    await t.rejects(migrating, { message }, how)
    t.equal(service.uploads(), 1, `${how}: the repayments are not uploaded`)
  }
})

t.test('a command that loses the service says the run goes on, or what was not saved', async t => {
  const record = {
    migration_id: newId(),
    rows: 1,
    valid_rows: 1,
    invalid_rows: 0,
    status: 'running',
  }
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const begun = new RegExp(
    `If migration ${record.migration_id} has begun to run, it continues; .* command\\. http`,
  )
  for (const lost of ['/migration/run', `/migration/${record.migration_id}`]) {
    const { url } = await startAnswering(t, record, ({ url = '' }, response) => {
      if (url.endsWith(lost)) response.writeHead(lost.endsWith('run') ? 504 : 401).end()
      return url.endsWith(lost)
    })
    t.match(await runCommand(url, [file]), { code: 1, output: begun }, lost)
  }
  const cut = await startAnswering(t, { ...record, invalid_rows: 1 }, ({ url = '' }, response) => {
    if (url.endsWith('errors.csv'))
      response.writeHead(200).write('reason', () => response.destroy())
    return url.endsWith('errors.csv')
  })
  t.match(await runCommand(cut.url, [file]), { code: 1, output: /its errors could not be saved: / })
})

t.test('npm run migrate-portfolio does not treat rows left out on request as failures', async t => {
  const record = { rows: 2, valid_rows: 1, invalid_rows: 1, done: 1, failed: 0, stopped: 0 }
  const { url } = await startAnswering(t, { ...record, status: 'completed', migration_id: newId() })
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const { code, output } = await runCommand(url, ['--skip-invalid', file])
  t.equal(code, 0)
  t.match(output, /1 invalid rows are left out/)
})

t.test('npm run migrate-portfolio goes on when nobody reads its output any more', async t => {
  const record = { rows: 1, valid_rows: 1, invalid_rows: 0, done: 1, failed: 0, stopped: 0 }
  const { url, calls } = await startAnswering(t, {
    ...record,
    status: 'completed',
    migration_id: newId(),
  })
  const file = join(t.testdir({ 'loans.csv': loansCsv }), 'loans.csv')
  const command = spawn(process.execPath, [MAIN, 'migrate-portfolio', file], { env: envFor(url) })
  command.stdout.destroy()
  t.equal((await once(command, 'close'))[0], 0)
  t.equal(calls(), 3)
})

type Instead = (request: IncomingMessage, response: ServerResponse) => boolean

/** Stands in for a service that answers every request with this record, except those that are answered `instead`. */
async function startAnswering(t: Test, record: object, instead: Instead = () => false) {
  let uploads = 0
  let calls = 0
  const server = createServer((request, response) => {
    calls++
    if (request.url === '/api/migration/upload') uploads++
    request.resume().on('end', () => {
      if (instead(request, response)) return
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(record))
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, uploads: () => uploads, calls: () => calls }
}

const envFor = (url: string) => ({
  ...processEnv,
  LOANOPS_URL: url,
  INTERNAL_TOKEN: `los:${TOKEN}`,
})

function runCommand(url: string, args: string[]) {
  const env = envFor(url)
  const command = [MAIN, 'migrate-portfolio', ...args]
  return new Promise<{ code: number; output: string }>(resolve => {
    execFile(process.execPath, command, { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    )
  })
}
