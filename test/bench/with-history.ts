import { sql } from 'kysely'
import { benchExecuted, INSTANT_LEDGER } from './executed.ts'
import { addHistory, pagesPerStatement } from './history.ts'
import { benchIntake } from './intake.ts'
import { median } from './median.ts'
import { openStage, type Stage } from './stage.ts'

const PAIRS = 5

/**
 * Years of history: pages per statement and the rates, compared with those of an empty database. The two are measured in turns,
 * because a machine's speed varies by a third within minutes.
 */
export async function benchWithHistory(empty: Stage, rows: number): Promise<void> {
  const filled = await openStage({ folder: '.data/bench-history' })
  await addHistory(filled, rows)
  // What the rows have left for PostgreSQL to write is no part of the rates.
  await sql`checkpoint`.execute(filled.db)
  await comparePages(empty, filled, rows)
  const rates = { intake: [] as number[], executed: [] as number[] }
  for (let pair = 1; pair <= PAIRS; pair++) {
    const [before, after] = [`empty-${pair}`, `filled-${pair}`]
    const intake = await benchIntake(empty, before)
    rates.intake.push((await benchIntake(filled, after)) / intake)
    const executed = await benchExecuted(empty, { ...INSTANT_LEDGER, label: before })
    rates.executed.push(
      (await benchExecuted(filled, { ...INSTANT_LEDGER, label: after })) / executed,
    )
  }
  await filled.close()
  for (const [name, ratios] of Object.entries(rates))
    console.log(
      `${name} with ${rows}: ${median(ratios).toFixed(2)} of the rate ` +
        `(${ratios.map(ratio => ratio.toFixed(2)).join(' ')})`,
    )
}

async function comparePages(empty: Stage, filled: Stage, rows: number): Promise<void> {
  const few = await pagesPerStatement(empty)
  for (const [name, pages] of await pagesPerStatement(filled))
    console.log(`pages of ${name}: ${few.get(name)} with empty tables, ${pages} with ${rows}`)
}
