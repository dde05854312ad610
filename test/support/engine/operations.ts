import { sql } from 'kysely'
import { clientData, newName } from '../ledger/loans.ts'
import type { Call, TestService } from '../service.ts'
import { until } from '../until.ts'

const WAIT_SECONDS = 20

/** Submits an operation. @returns its tracking id */
export async function submit(call: Call, status: string, data: object): Promise<string> {
  const { status: code, body } = await call('POST', '/api/ledger/operate', { status, data })
  if (code !== 202) throw new Error(JSON.stringify(body))
  return body.tracking_id
}

/** After this many unanswered calls in a row, only probes are sent. */
const CALLS_TO_TAKE_IT_FOR_DOWN = 6

/** Submits enough operations to open the circuit breaker. @returns their tracking ids */
export function enoughToTakeItForDown(call: Call): Promise<string[]> {
  return Promise.all(
    Array.from({ length: CALLS_TO_TAKE_IT_FOR_DOWN }, () =>
      submit(call, 'CLIENT_CREATE', clientData(newName('C'))),
    ),
  )
}

/** Waits until an operation is final. @returns its record, after `seconds` as it is then; by default it waits on */
export async function ending(call: Call, trackingId: string, seconds?: number) {
  const path = `/api/ledger/track/${encodeURIComponent(trackingId)}?wait=${seconds ?? WAIT_SECONDS}`
  const ask = async () => (await call('GET', path)).body
  if (seconds !== undefined) return ask()
  return until(async () => {
    const body = await ask()
    return body.status !== 'processing' && body
  }, `the end of ${trackingId}`)
}

/** The operation as it is in the list. */
export async function listed(call: Call, externalId: string, trackingId: string) {
  const { body } = await call(
    'GET',
    `/api/ledger/operations?external_id=${encodeURIComponent(externalId)}`,
  )
  return body.operations.find((one: any) => one.tracking_id === trackingId)
}

type AttemptRow = {
  attempt: number
  method: string | null
  http_status: number | null
  outcome: string | null
  idempotency_key: string | null
}

/** The attempts that have ended, one by one, although consecutive equal ones share a row. */
export async function attemptsOf(
  { db }: Pick<TestService, 'db'>,
  trackingId: string,
): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt, method, http_status, outcome, idempotency_key
      from ops.operation_attempt cross join generate_series(1, times)
     where tracking_id = ${trackingId} and ended_at is not null order by attempt`.execute(db)
  return rows
}

/** Makes an operation that is waiting for its next try due at once. */
export async function hurry({ db }: Pick<TestService, 'db'>, trackingId: string): Promise<void> {
  await sql`update loanops.operation set next_try_at = now() - interval '1 minute'
    where id = ${trackingId.split('|')[1]} and claimed_by is null`.execute(db)
}

/** Keeps a subject's operation from being tried again until it is hurried. @returns its tracking id */
export function delay({ db }: Pick<TestService, 'db'>, subject: string): Promise<string> {
  return until(async () => {
    const { rows } = await sql<{ id: string }>`
      update loanops.operation set next_try_at = now() + interval '1 hour'
       where subject = ${subject} and status = 'processing' and claimed_by is null and waiting_for is not null
      returning operation_type || '|' || id as id`.execute(db)
    return rows[0]?.id
  }, `an operation on ${subject} that waits`)
}

/** Whether the process knows that the ledger is paused: until then, it may still begin a write. */
export async function isPauseNoticed({ call }: Pick<TestService, 'call'>): Promise<boolean> {
  const { body } = await call('GET', '/metrics')
  const [, gauge] = /^loanops_ledger_paused (\d)/m.exec(body) ?? []
  if (gauge === undefined) throw new Error('there is no gauge')
  return gauge === '1'
}
