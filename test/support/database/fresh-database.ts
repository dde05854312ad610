import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import { type Database, openDatabase } from '../../../src/database/database.ts'
import { LONG_STATEMENT_MS } from '../../../src/database/pool/pool-config.ts'
import { databaseUrl, serviceUrl, TEMPLATE } from './template.ts'

export type FreshDatabase = {
  /** The URL for a service, with the runtime role. */
  url: string
  /** The test's own connections, with the owner's role. */
  db: Database
  ownerUrl: string
}

/** Their tests' last connections may still be closing. */
const KEPT_DATABASES = 3
const ended: string[] = []

/** One connection creates all of this process's databases; it does not keep the process alive. */
const server = new pg.Pool({
  connectionString: process.env.TEST_DATABASE_URL,
  max: 1,
  idleTimeoutMillis: 0,
  allowExitOnIdle: true,
}).on('error', () => undefined)

/** Creates a migrated database for one test. */
export async function freshDatabase(t: Test): Promise<FreshDatabase> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (!serverUrl) throw new Error('Tests need the PostgreSQL that "npm test" starts')
  await dropEnded()
  const name = `test_${randomBytes(6).toString('hex')}`
  await server.query(`create database ${name} template ${TEMPLATE} strategy file_copy`)
  const ownerUrl = databaseUrl(serverUrl, name)
  const db = openDatabase(ownerUrl, {
    max: 10,
    name: 'test',
    // A test may hold a transaction open while it waits for the service.
    statementMs: LONG_STATEMENT_MS,
    onError: error => t.comment(error.message),
  })
  t.teardown(async () => {
    await db.destroy()
    ended.push(name)
  })
  return { url: serviceUrl(ownerUrl), db, ownerUrl }
}

/** All 1,100 would fill 11 GB of memory. By force, because a killed process may still be connected. */
async function dropEnded(): Promise<void> {
  while (ended.length > KEPT_DATABASES)
    await server.query(`drop database if exists ${ended.shift()} with (force)`)
}
