import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { asText, booksOf, loansAsExpected } from './books.ts'
import { freshDatabase } from './fresh-database.ts'
import { uploadCsv } from './migrate.ts'
import { dice, makePortfolio } from './portfolio.ts'
import { startProcess } from './process.ts'
import { caller, testEnv } from './service.ts'

const LONGEST_LIFE_MS = 1_500

/**
 * Migrates a portfolio with one process that does everything, and that is killed again and again, at moments drawn
 * from the seed. @returns the ledger's books beside the expected ones
 */
export async function migrateUnderKills(
  t: Test,
  options: { seed: number; kills: number; clients: number; loans: number; repayments: number },
) {
  const { seed, kills } = options
  const random = dice(seed)
  const portfolio = makePortfolio(options, seed)
  const { url: databaseUrl } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const port = await freePort(0)
  const env = testEnv(databaseUrl, ledger.url, { PORT: String(port), LEDGER_CONCURRENCY: '8' })
  const url = `http://127.0.0.1:${port}`
  let service = startProcess('all', env)
  t.teardown(() => service.kill('SIGKILL'))
  const call = caller(url)
  let left = kills

  for (const [type, csv] of [
    ['loans', portfolio.loansCsv],
    ['repayments', portfolio.repaymentsCsv],
  ] as const) {
    const { body } = await retried(() => uploadCsv({ url }, type, csv))
    const { migration_id } = body
    await retried(() => call('POST', '/api/migration/run', { migration_id }))
    // Most of the rows are repayments, and so are most of the kills.
    for (const last = type === 'loans' ? kills * 0.7 : 0; left > last; left--) {
      await pause(random() * LONGEST_LIFE_MS)
      await service.kill('SIGKILL')
      service = startProcess('all', env)
      // A process that is killed before it works proves little.
      const { body: before } = await retried(() => call('GET', `/api/migration/${migration_id}`))
      if (before.status !== 'running') break
    }
    for (let status = 'running'; status === 'running'; await pause(50))
      status = (await retried(() => call('GET', `/api/migration/${migration_id}`))).body.status
    const { body: end } = await call('GET', `/api/migration/${migration_id}`)
    t.match(
      end,
      { status: 'completed', done: end.rows, failed: 0, stopped: 0 },
      `${type}, seed ${seed}`,
    )
  }
  await service.kill('SIGTERM')
  const books = await booksOf(ledger.controlUrl)
  return {
    killed: kills - left,
    found: await loansAsExpected(ledger, portfolio.expected),
    expected: asText(portfolio.expected),
    clients: books.clients.length as number,
  }
}

/** The process may be dead at the moment. */
async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await pause(50)
    }
  }
}
