import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { startPostgres } from '../../../src/embedded/postgres.ts'

/** Starts a separate PostgreSQL, because roles belong to a whole server. */
export async function startServer(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-server-'))
  // If we are root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const flags = ['-c', 'fsync=off']
  const postgres = await startPostgres({
    folder: join(folder, 'postgres'),
    password: 'test',
    flags,
  })
  t.teardown(() => postgres.close())
  const superuser = await connected(t, postgres.url)
  const at = ({ DATABASE_URL }: NodeJS.Dict<string>) => {
    const url = new URL(DATABASE_URL ?? '')
    url.host = new URL(postgres.url).host
    return url.href
  }
  return { superuser, url: postgres.url, at }
}

export async function connected(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  t.teardown(() => client.end())
  return client
}
