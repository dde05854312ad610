import { sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction } from '../../database/database.ts'
import { type PaymentName, type PaymentStanding, paymentStanding } from '../locked-payment.ts'

export function noteOn(db: Database, name: PaymentName, note: string, asker: Asker) {
  return inTransaction(db, async trx => {
    const payment = await paymentStanding(trx, name)
    await saveNote(trx, payment, note, asker)
    await audit(trx, {
      ...asker,
      action: 'payment.note',
      subject: `${name.gateway}/${name.paymentId}`,
      detail: { note, kind: payment.kind },
    })
    return payment
  })
}

export async function saveNote(
  db: Database,
  { id }: Pick<PaymentStanding, 'id'>,
  note: string,
  { actor }: Asker,
): Promise<void> {
  await sql`
    update core.transaction set note = ${note}, noted_by = ${actor} where id = ${id}`.execute(db)
}
