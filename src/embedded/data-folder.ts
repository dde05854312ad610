import { existsSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'

const USUAL = '.data'

export type DataFolder = Record<'folder' | 'secrets' | 'pid' | 'postgres' | 'books', string>

/** Where `npm start` keeps what it stores. */
export function dataFolder(given = USUAL): DataFolder {
  const folder = resolve(given)
  const secrets = resolve(folder, 'secrets.json')
  // The files of a data folder become private, which would harm whoever else has files there.
  const isForeign = given !== USUAL && existsSync(folder) && !existsSync(secrets)
  if (isForeign && readdirSync(folder).length > 0)
    throw new ConfigError(`--data ${given} holds other files: name an empty folder, or a new one`)
  return {
    folder,
    secrets,
    pid: resolve(folder, 'loanops.pid'),
    postgres: resolve(folder, 'postgres'),
    books: resolve(folder, 'ledger-books.jsonl'),
  }
}
