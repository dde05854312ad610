import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { startRole } from '../../../src/role.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { caller, testEnv } from '../../support/service.ts'
import { until } from '../../support/until.ts'

t.test('a worker checks the ledger at start, and says once what breaks', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  const lines: string[] = []
  const stream = new PassThrough().on('data', line => lines.push(String(line)))
  // After this mistake, nothing else is read: the test need not wait for one read a second.
  const changes = { LEDGER_PASSWORD: 'wrong', LEDGER_CHECK_MINUTES: '10' }
  const env = testEnv(databaseUrl, ledger.url, { ROLE: 'all', ...changes })
  const service = await startRole(readConfig(env), pino({ level: 'info' }, stream))
  t.teardown(async () => {
    await Promise.all([service.close(), ledger.close()])
  })
  const call = caller(service.url)
  const finding = { check: 'credentials', lender: null, state: 'breaks' }
  const findings = await until(async () => {
    const { findings } = (await call('GET', '/readyz')).body.ledger
    return findings !== 'not_known' && findings
  })
  t.has(findings, [finding])
  t.notOk(findings.some(({ state }: any) => state === 'ok'))
  await until(async () =>
    /^loanops_ledger_findings\{check="credentials",state="breaks"\} 1$/m.test(
      (await call('GET', '/metrics')).body,
    ),
  )
  await call('POST', '/api/ledger/check')
  const said = lines.map(line => JSON.parse(line)).filter(({ check }) => check !== undefined)
  t.match(said, [
    { ...finding, level: 40, msg: /refuses its user or the password.*LEDGER_PASSWORD/ },
  ])
  t.equal(said.length, 1)
})
