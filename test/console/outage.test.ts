import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { ADMIN } from '../support/accounts/admin.ts'
import { loggedIn } from '../support/console/console.ts'
import { freshDatabase } from '../support/database/fresh-database.ts'
import { startPostgresProxy } from '../support/database/postgres-proxy.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

t.test('while the database hangs, every page says so within five seconds', async t => {
  const { url: databaseUrl } = await freshDatabase(t)
  const proxy = await startPostgresProxy(t, databaseUrl)
  const ledger = await startSandbox({ port: 0 })
  const settings = {
    ROLE: 'api',
    CONSOLE_ENABLED: 'true',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  }
  const config = readConfig(testEnv(proxy.url, ledger.url, settings))
  const service = await startRole(config, logger(config.LOG_LEVEL))
  t.teardown(async () => {
    proxy.deliver()
    await service.close()
    await ledger.close()
  })
  const browse = await loggedIn(service.url, ADMIN)
  await until(async () => (await browse('/console')).status === 200, 'the console')
  proxy.hold()
  const since = performance.now()
  const pages = ['/console', '/console/payments', '/console/loans/L-1', '/console/operations.csv']
  for (const { status, text } of await Promise.all(pages.map(path => browse(path)))) {
    t.equal(status, 503)
    t.match(
      text,
      /role="alert".*database (does not answer in time|cannot be reached, or .*)\. Try again/s,
    )
  }
  t.ok(performance.now() - since < 5_000)
})
