import { sql } from 'kysely'
import { upload } from '../http/upload.ts'
import { type TestService, TOKEN } from '../service.ts'
import { until } from '../until.ts'

type At = Pick<TestService, 'url' | 'call'>

export async function uploadCsv(
  { url }: { url: string },
  type: string,
  csv: string | Uint8Array<ArrayBuffer>,
  name = `${type}.csv`,
) {
  return upload(`${url}/api/migration/upload`, { name, content: csv }, { type })
}

export async function textOf({ url }: { url: string }, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { 'x-internal-token': TOKEN } })
  // Not text(), which would drop a BOM.
  return Buffer.from(await response.arrayBuffer()).toString()
}

export const errorsOf = (service: { url: string }, id: string) =>
  textOf(service, `/api/migration/${id}/errors.csv`)

/** Polls until the run has ended. */
export function ended({ call }: Pick<At, 'call'>, id: string): Promise<any> {
  return until(async () => {
    const { body } = await call('GET', `/api/migration/${id}`)
    return body.status !== 'running' && body
  }, 'the run ends')
}

/** Uploads and runs. @returns the migration's id */
export async function startCsv(service: At, type: string, csv: string, options: object = {}) {
  const { migration_id } = (await uploadCsv(service, type, csv)).body
  const run = { migration_id, ...options }
  const { status, body } = await service.call('POST', '/api/migration/run', run)
  if (status !== 202) throw new Error(`not run: ${JSON.stringify(body)}`)
  return migration_id as string
}

/** Uploads, runs, and waits for the end. */
export const migrateCsv = async (service: At, type: string, csv: string, options: object = {}) =>
  ended(service, await startCsv(service, type, csv, options))

/** What ops.migration_row shows of a migration, by line. */
export async function rowsOf({ db }: Pick<TestService, 'db'>, id: string): Promise<any[]> {
  const { rows } = await sql<any>`
    select line, state, reason, finding, finding_reason from ops.migration_row
     where migration_id = ${id} order by line`.execute(db)
  return rows
}
