import { existsSync, rmSync } from 'node:fs'
import { ConfigError } from '../config/config.ts'
import { dataFolder } from './data-folder.ts'
import { removePostgres } from './postgres.ts'
import { takeFolder } from './take-folder.ts'

/**
 * Empties the database and the sandbox ledger's books. The token and the passwords stay: what a tester has set up keeps
 * working.
 * @returns the folder
 */
export async function resetData(data: string | undefined): Promise<string> {
  const { folder, secrets, pid, postgres, books } = dataFolder(data)
  if (!existsSync(secrets)) throw new ConfigError(`npm start has stored nothing in ${folder} yet`)
  const taken = takeFolder(pid)
  try {
    await removePostgres(postgres)
    rmSync(books, { force: true })
  } finally {
    await taken.close()
  }
  return folder
}
