import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { openBenchDatabase } from './bench-database.ts'

/** A PostgreSQL whose rows can stay for the next run, and for another bench. */
export async function openHistoryDatabase() {
  const folder = resolve('.data/bench-console')
  const isFilled = existsSync(folder)
  const postgres = await startPostgres({
    folder,
    password: 'bench',
    flags: ['-c', 'shared_buffers=1GB', '-c', 'max_wal_size=8GB'],
  })
  await migrate(postgres.url, allQueues)
  const db = openBenchDatabase(postgres.url)
  return {
    db,
    url: postgres.url,
    isFilled,
    async close({ keep }: { keep: boolean }) {
      await db.destroy()
      await postgres.close()
      if (!keep) rmSync(folder, { recursive: true, force: true })
    },
  }
}
