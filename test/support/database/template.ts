import pg from 'pg'
import { migrate } from '../../../src/database/migrate/migrate.ts'
import { allQueues } from '../../../src/worker.ts'
import { withClient } from './with-client.ts'

export const TEMPLATE = 'loanops_template'
/** A login whose only privilege is membership of the runtime role. */
const SERVICE = { user: 'loanops_service', password: 'test' }
/** The same of the role for workers. */
const WORKER = { user: 'loanops_worker_service', password: 'test' }

/** The database that each test's database is copied from. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  const client = new pg.Client(serverUrl)
  await client.connect()
  try {
    await client.query(`create database ${TEMPLATE}`)
    await migrate(databaseUrl(serverUrl, TEMPLATE), allQueues)
    await client.query(
      `create role ${SERVICE.user} login password '${SERVICE.password}' in role loanops_runtime`,
    )
    await client.query(
      `create role ${WORKER.user} login password '${WORKER.password}' in role loanops_worker`,
    )
    await postponeMaintenance(databaseUrl(serverUrl, TEMPLATE))
    await compact(databaseUrl(serverUrl, TEMPLATE))
    await letIn(client)
    // The first connection after a change of tables writes down what every other one reads at its start: the copies have it.
    await withClient(databaseUrl(serverUrl, TEMPLATE), async () => undefined)
    // PostgreSQL copies a template only while nobody is connected to it.
    await client.query(`alter database ${TEMPLATE} with allow_connections false`)
  } finally {
    await client.end()
  }
}

/**
 * pg-boss maintains its tables once a minute. In a fresh database this is due at once, and takes as long as the
 * service's start.
 */
async function postponeMaintenance(url: string): Promise<void> {
  await withClient(url, client =>
    client.query(`
      update pgboss.queue set maintain_on = now() + interval '1 day';
      update pgboss.version set reindex_on = now() + interval '1 day'`),
  )
}

/** Migrating leaves dead rows in the catalogs, and two more files beside each: without them, a copy takes half the time. */
async function compact(url: string): Promise<void> {
  await withClient(url, async client => {
    const { rows } = await client.query<{ names: string }>(
      `select string_agg(oid::regclass::text, ', ') as names from pg_class
        where relkind = 'r' and relnamespace = 'pg_catalog'::regnamespace and not relisshared`,
    )
    await client.query(`vacuum full ${rows[0]?.names}`)
  })
}

/** Without passwords, a connection costs a seventh less: a test opens more than ten. */
async function letIn(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ hba_file: string }>('show hba_file')
  await client.query(
    `copy (select 'host all all 127.0.0.1/32 trust') to ${client.escapeLiteral(rows[0]?.hba_file as string)}`,
  )
  await client.query('select pg_reload_conf()')
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

/** The same database, with the login that a service has in production. */
export const serviceUrl = (ownerUrl: string) => urlOf(ownerUrl, SERVICE)
export const workerUrl = (ownerUrl: string) => urlOf(ownerUrl, WORKER)

function urlOf(ownerUrl: string, { user, password }: typeof SERVICE): string {
  const url = new URL(ownerUrl)
  url.username = user
  url.password = password
  return url.href
}
