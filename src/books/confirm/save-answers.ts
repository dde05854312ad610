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
  const saved = asked.map(({ question: { kind, id, asked: before }, answer }) => {
    const { outcome, said, asked, has_more } = answer ?? {
      outcome: 'unavailable',
      said: null,
      asked: before,
      has_more: false,
    }
    return { kind, id, outcome, said, asked, has_more }
  })
  await db.transaction().execute(async trx => {
    await lockSettling(trx)
    const { rows } = await sql`
      select from core.batch_run
       where id = ${claim.id} and attempt = ${claim.number} and status = 'running'
         for no key update`.execute(trx)
    if (rows.length === 0) throw new RunLeft()
    await saveEvents(trx, events)
    await sql`
      select core.save_answers(${account.gateway}, ${nameOf(account)}, ${claim.id},
        ${JSON.stringify(saved)}::jsonb)`.execute(trx)
  })
  crashPoint('confirm.saved')
}
