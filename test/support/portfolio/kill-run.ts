import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from '../../../src/embedded/free-port.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { freshDatabase } from '../database/fresh-database.ts'
import { expireLeases } from '../engine/leases.ts'
import { booksAt } from '../ledger/ledger-driver.ts'
import { startProcess } from '../process.ts'
import { caller, testEnv } from '../service.ts'
import { asText, loansAsExpected } from './books.ts'
import { uploadCsv } from './migrate.ts'
import { dice, makePortfolio } from './portfolio.ts'

const LOOK_EVERY_MS = 20
/** Most kills come during repayments, because most of the rows are repayments. */
const KILLS_AMONG_LOANS = 0.3

/**
 * Migrates a portfolio with a single process of role all, which is killed again and again, each time after a
 * seeded random number of calls to the ledger. @returns the ledger's books and the expected ones
 */
export async function migrateUnderKills(
  t: Test,
  options: { seed: number; kills: number; clients: number; loans: number; repayments: number },
) {
  const { seed, kills } = options
  const random = dice(seed)
  const portfolio = makePortfolio(options, seed)
  const { url: databaseUrl, db } = await freshDatabase(t)
  const ledger = await startSandbox({ port: 0 })
  t.teardown(() => ledger.close())
  const port = await freePort(0)
  const env = testEnv(databaseUrl, ledger.url, { PORT: String(port), LEDGER_CONCURRENCY: '8' })
  const url = `http://127.0.0.1:${port}`
  let service = startProcess('all', env)
  t.teardown(() => service.kill('SIGKILL'))
  const call = caller(url)
  let killed = 0
  const killsAmongLoans = Math.round(kills * KILLS_AMONG_LOANS)

  // Each row makes at least one call.
  for (const [type, csv, rows, killsOfType] of [
    ['loans', portfolio.loansCsv, options.loans, killsAmongLoans],
    ['repayments', portfolio.repaymentsCsv, options.repayments, kills - killsAmongLoans],
  ] as const) {
    const { body } = await retried(() => uploadCsv({ url }, type, csv))
    const { migration_id } = body
    const before = await callsAt(ledger.controlUrl)
    await retried(() => call('POST', '/api/migration/run', { migration_id }))
    for (let n = 0; n < killsOfType; n++) {
      const enough = before + ((n + random()) / killsOfType) * rows
      while ((await callsAt(ledger.controlUrl)) < enough) await pause(LOOK_EVERY_MS)
      await service.kill('SIGKILL')
      killed++
      await expireLeases(db)
      service = startProcess('all', env)
    }
    for (let status = 'running'; status === 'running'; await pause(LOOK_EVERY_MS))
      status = (await retried(() => call('GET', `/api/migration/${migration_id}`))).body.status
    const { body: end } = await call('GET', `/api/migration/${migration_id}`)
    t.match(
      end,
      { status: 'completed', done: end.rows, failed: 0, stopped: 0 },
      `${type}, seed ${seed}`,
    )
  }
  await service.kill('SIGTERM')
  const books = await booksAt(ledger.controlUrl)
  return {
    killed,
    found: await loansAsExpected(ledger, portfolio.expected),
    expected: asText(portfolio.expected),
    clients: books.clients.length as number,
  }
}

/** The number of writes that have reached the ledger. */
async function callsAt(controlUrl: string): Promise<number> {
  const counters = (await (await fetch(`${controlUrl}/counters`)).json()) as any
  return Object.values<number>(counters.calls).reduce((sum, one) => sum + one, 0)
}

/** The process may be dead at the moment. */
async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await pause(LOOK_EVERY_MS)
    }
  }
}
