import { type Asker, auditAlone } from '../../accounts/audit.ts'
import type { Database } from '../../database/database.ts'

type Read = { gateway: string; gateway_payment_id: string; kind: string }

/** Bodies and headers name the payer. Call this before they are read: a reading that cannot be audited shows nothing. */
export function auditBodies(db: Database, asker: Asker, payment: Read): Promise<void> {
  const { gateway, gateway_payment_id: id, kind } = payment
  const detail = { kind, bodies: true }
  return auditAlone(db, { ...asker, action: 'payment.read', subject: `${gateway}/${id}`, detail })
}
