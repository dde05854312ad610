import type { CallbackType } from '../../config/settings/callback-settings.ts'
import type { Trx } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { NotFound } from '../../http/problem.ts'
import { type OperationRow, wholeRecord } from '../../operations/reading/operation-record.ts'
import { findMigration } from '../../portfolio/find-migration.ts'
import { withoutPersonalData } from './without-personal-data.ts'

export type NumberedCallback = {
  id: string
  type: CallbackType
  about: string
  sequence: string
  occurredAt: Date
  snapshot: Record<string, unknown> | null
  operation: (OperationRow & { externalId: string; data: object }) | null
}

export async function callbackBody(trx: Trx, callback: NumberedCallback): Promise<string> {
  const { type, occurredAt, sequence } = callback
  const data = await dataOf(trx, callback)
  return JSON.stringify({
    type,
    timestamp: occurredAt.toISOString(),
    sequence: Number(sequence),
    data,
  })
}

async function dataOf(trx: Trx, { type, about, snapshot, operation }: NumberedCallback) {
  if (operation !== null) {
    const { externalId, data, ...row } = operation
    const processedAt = row.processedAt && new Date(row.processedAt)
    const { success_response, failure_response, error_message, ...ids } = wholeRecord({
      ...row,
      processedAt,
    })
    const answers = { success_response, failure_response, error_message }
    return { ...ids, ...withoutPersonalData(answers, data), external_id: externalId }
  }
  const reported = withTimes(snapshot ?? {})
  if (!type.startsWith('migration.')) return reported
  // The rate is that of the run which ended; a retry that has begun since does not change it.
  // A file may be named after a person.
  return { ...(await migrationOf(trx, about)), ...reported, file_name: null }
}

async function migrationOf(trx: Trx, id: string): Promise<object> {
  try {
    const migration = await findMigration(trx, id)
    const { dry_run } = migration
    // The reasons name what differs, such as a client's name.
    const findings = dry_run?.findings.map(one => ({ ...one, reason: null }))
    return { ...migration, dry_run: dry_run && { ...dry_run, findings } }
  } catch (error) {
    if (!(error instanceof NotFound)) throw error
    // The migration was discarded since; its callback must not delay others.
    return { dry_run: null, rate_per_second: null, estimated_end_at: null }
  }
}

/** PostgreSQL's JSON writes times with an offset; ours are in UTC with a Z. */
function withTimes(snapshot: Record<string, unknown>): object {
  return asJson(
    Object.fromEntries(
      Object.entries(snapshot).map(([name, value]) => [
        name,
        name.endsWith('_at') && typeof value === 'string' ? new Date(value) : value,
      ]),
    ),
  )
}
