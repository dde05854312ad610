import { sql } from 'kysely'
import type { Call, TestService } from './service.ts'

const ASK_EVERY_MS = 20
/** A process starts within a second, and within many of them on a machine that is busy with other tests. */
const PATIENCE_MS = 60_000

/** Submits an operation. @returns its tracking id */
export async function submit(call: Call, status: string, data: object): Promise<string> {
  const { status: code, body } = await call('POST', '/api/ledger/operate', { status, data })
  if (code !== 202) throw new Error(JSON.stringify(body))
  return body.tracking_id
}

/** Waits until an operation is final. */
export async function ending(call: Call, trackingId: string, seconds = 20) {
  const path = `/api/ledger/track/${encodeURIComponent(trackingId)}?wait=${seconds}`
  return (await call('GET', path)).body
}

/** The operation as the list tells it. */
export async function listed(call: Call, externalId: string, trackingId: string) {
  const { body } = await call('GET', `/api/ledger/operations?external_id=${externalId}`)
  return body.operations.find((one: any) => one.tracking_id === trackingId)
}

/** Asks again and again until the answer is there. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  const giveUp = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > giveUp) throw new Error(`in vain: ${ask}`)
    await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
  }
}

export type AttemptRow = {
  attempt: number
  method: string | null
  http_status: number | null
  outcome: string | null
  idempotency_key: string | null
}

/** The attempts that have ended. */
export async function attemptsOf(
  { db }: Pick<TestService, 'db'>,
  trackingId: string,
): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt, method, http_status, outcome, idempotency_key from ops.operation_attempt
     where tracking_id = ${trackingId} and ended_at is not null order by attempt`.execute(db)
  return rows
}

/** Makes an operation that waits for its next try due at once, as if its time had come. */
export async function hurry({ db }: Pick<TestService, 'db'>, trackingId: string): Promise<void> {
  await sql`update loanops.operation set next_try_at = now() - interval '1 minute'
    where id = ${trackingId.split('|')[1]} and claimed_by is null`.execute(db)
}
