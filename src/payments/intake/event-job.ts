import { sql } from 'kysely'
import type { Config, PaymentSettings } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Job } from '../../queue/job.ts'
import { paymentCounters } from '../payment-signals.ts'
import { proofsOf, signersOf } from '../proofs.ts'
import { workEvents } from './save-events.ts'

export async function runEvents(context: WorkerContext): Promise<Job> {
  const { db, patient, boss, config, metrics, log } = context
  // A changed setting marks all events that it concerns.
  await copyNetworks(patient, config)
  await copyConfirmation(patient, config)
  const { repeatedEvents } = metrics.of(paymentCounters)
  return workEvents(db, boss, {
    onRepeats: (gateway, repeats) => repeatedEvents.inc({ gateway }, repeats),
    log,
  })
}

/** Copies the networks to the database, where they decide which events count. */
export async function copyNetworks(db: Database, { lenders, gateways }: Config): Promise<void> {
  const networks = [...lenders.values()].flatMap(lender =>
    gateways.flatMap(({ name: gateway }) =>
      [...new Set(lender[gateway].allowedCidrs.map(asInet))].flatMap(network =>
        lender.products.map(product => ({ lender: lender.code, product, gateway, network })),
      ),
    ),
  )
  await sql`select core.copy_networks(${JSON.stringify(networks)}::jsonb)`.execute(db)
}

/** PostgreSQL accepts no zone id in an address, and no leading zero in a prefix length. */
function asInet(cidr: string): string {
  const [address = '', prefix] = cidr.replace(/%[^/]*/, '').split('/')
  return prefix === undefined ? address : `${address}/${Number(prefix)}`
}

/**
 * Copies three settings to the database: whose secrets prove events to whom, which events are to be confirmed, and whose
 * refunds are booked automatically.
 */
export async function copyConfirmation(db: Database, config: PaymentSettings): Promise<void> {
  await sql`select core.copy_signing(${JSON.stringify(signersOf(config))}::jsonb)`.execute(db)
  const confirming = proofsOf(config, trust => trust.confirm)
  await sql`select core.copy_confirming(${JSON.stringify(confirming)}::jsonb)`.execute(db)
  const reversing = proofsOf(config, trust => trust.reversals === 'automatic')
  await sql`select core.copy_reversing(${JSON.stringify(reversing)}::jsonb)`.execute(db)
}
