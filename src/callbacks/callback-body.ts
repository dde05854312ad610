import type { CallbackType } from '../config/setting-formats.ts'
import type { Trx } from '../database/database.ts'
import { asJson } from '../http/as-json.ts'
import { type OperationRow, wholeRecord } from '../operations/record.ts'
import { findMigration } from '../portfolio/find-migration.ts'
import { withoutPersonalData } from './without-personal-data.ts'

/** A callback that has its place among those of its subject, with what it reports. */
export type NumberedCallback = {
  id: string
  type: CallbackType
  about: string
  sequence: string
  occurredAt: Date
  snapshot: Record<string, unknown> | null
  operation: (OperationRow & { externalId: string; data: object }) | null
}

/** The text that is signed and sent, the same on each attempt. */
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
  // Its rate is the run's; a retry that has begun since does not change what ended.
  return { ...(await findMigration(trx, about)), ...reported }
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
