// Proves that src/database/database.types.ts is what the migrations make; with --write it is made anew.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'

const TYPES = resolve('src/database/database.types.ts')
const folder = resolve('.data/check-postgres')
const generated = resolve(folder, '../database.types.ts')

rmSync(folder, { recursive: true, force: true })
const postgres = await startPostgres({ folder, password: 'check' })
try {
  await migrate(postgres.url, allQueues)
  const { status, stdout, stderr } = spawnSync(
    resolve('node_modules/.bin/kysely-codegen'),
    [
      '--dialect=postgres',
      `--url=${postgres.url}`,
      `--out-file=${generated}`,
      '--include-pattern={loanops,raw,base,core}.*',
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stdout + stderr)
} finally {
  await postgres.close()
}
const wanted = readFileSync(generated, 'utf8')
if (process.argv.includes('--write')) writeFileSync(TYPES, wanted)
else if (readFileSync(TYPES, 'utf8') !== wanted) {
  console.error('src/database/database.types.ts is not what the migrations make: npm run types')
  process.exit(1)
}
