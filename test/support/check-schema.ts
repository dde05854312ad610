// Checks that the generated types and migrations/schema.sql match the migrations; --write updates both.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { migrate } from '../../src/database/migrate/migrate.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { allQueues } from '../../src/worker.ts'
import { dumpSchema } from './database/dump-schema.ts'

const folder = resolve('.data/check-postgres')

rmSync(folder, { recursive: true, force: true })
const postgres = await startPostgres({ folder, password: 'check' })
try {
  await migrate(postgres.url, allQueues)
  save('src/database/database.types.ts', generatedTypes(postgres.url))
  save('migrations/schema.sql', await dumpSchema(postgres.url))
} finally {
  await postgres.close()
}

function generatedTypes(url: string): string {
  const file = resolve(folder, '../database.types.ts')
  const { status, stdout, stderr } = spawnSync(
    resolve('node_modules/.bin/kysely-codegen'),
    [
      '--dialect=postgres',
      `--url=${url}`,
      `--out-file=${file}`,
      '--include-pattern={loanops,raw,base,core}.*',
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stdout + stderr)
  return readFileSync(file, 'utf8')
}

/** With --write, updates the file; otherwise a difference fails the check. */
function save(file: string, wanted: string): void {
  if (process.argv.includes('--write')) writeFileSync(file, wanted)
  else if (readFileSync(file, 'utf8') !== wanted) {
    console.error(`${file} does not match the migrations: run "npm run types"`)
    process.exitCode = 1
  }
}
