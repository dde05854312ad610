import { sql } from 'kysely'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Database } from '../../database/database.ts'
import { saveEvents } from '../../payments/intake/save-events.ts'
import { lockSettling } from '../../payments/lock-settling.ts'
import { RunLeft } from '../../queue/keep-claim.ts'
import type { Run } from '../../queue/run-job.ts'
import { nameOf } from '../backfill/accounts.ts'
import type { Confirmation, Question } from './ask.ts'

export type Asked = { question: Question; answer: Confirmation | null }

export async function saveAnswers(
  db: Database,
  { claim }: Run,
  account: GatewayAccount,
  asked: Asked[],
): Promise<void> {
  const events = asked.flatMap(({ answer }) => answer?.events ?? [])
  const kept = asked.map(({ question: { kind, id, asked: before }, answer }) => {
    const { outcome, said, asked, has_more } = answer ?? {
      outcome: 'unavailable',
      said: null,
      asked: before,
      has_more: false,
    }
    return { kind, id, outcome, said, asked, has_more }
  })
  const answers = sql`${JSON.stringify(kept)}::jsonb`
  await db.transaction().execute(async trx => {
    await lockSettling(trx)
    const { rows } = await sql`
      update core.batch_run
         set suspended = suspended + (
               -- A question that was denied is asked again in later batches.
               select count(*) from core.question q
                 join jsonb_to_recordset(${answers}) as a (kind text, id text, outcome text)
                   on a.id = q.gateway_payment_id and a.kind = q.kind
                where a.outcome = 'denied' and q.gateway = ${account.gateway} and q.account = ${nameOf(account)} and q.denied_at is null)
       where id = ${claim.id} and attempt = ${claim.number} and status = 'running'
      returning id`.execute(trx)
    if (rows.length === 0) throw new RunLeft()
    await saveEvents(trx, events)
    await sql`
      select core.save_answers(${account.gateway}, ${nameOf(account)}, ${claim.id}, ${answers})`.execute(
      trx,
    )
  })
  crashPoint('confirm.saved')
}
