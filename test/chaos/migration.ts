// npm test -- test/chaos/migration.ts: checks at the size of a portfolio what the suite checks with small runs.
// SEED=… KILLS=… LOANS=… REPAYMENTS=… CLIENTS=…
import t from 'tap'
import { migrateUnderKills } from '../support/portfolio/kill-run.ts'

const setting = (name: string, standard: number) => Number(process.env[name] ?? standard)
const HOURS_MS = 3_600_000

t.setTimeout(HOURS_MS)
t.test('a portfolio migrated despite kills ends in the computed books, to the paisa', async t => {
  t.setTimeout(HOURS_MS)
  const seed = setting('SEED', Date.now() % 100_000)
  t.comment(`seed ${seed}`)
  const { killed, found, expected, clients } = await migrateUnderKills(t, {
    seed,
    kills: setting('KILLS', 20),
    clients: setting('CLIENTS', 300),
    loans: setting('LOANS', 2_000),
    repayments: setting('REPAYMENTS', 24_000),
  })
  t.comment(`killed ${killed} times`)
  t.same(found, expected)
  t.equal(clients, setting('CLIENTS', 300))
})
