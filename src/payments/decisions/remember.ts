import { sql } from 'kysely'
import type { Asker } from '../../accounts/audit.ts'
import type { PaymentSettings } from '../../config/config.ts'
import { lendersNamed } from '../../config/lenders.ts'
import { madeUp, placeholder } from '../../csv/made-up-values.ts'
import type { Trx } from '../../database/database.ts'
import { isExternalId } from '../../http/fields/text-fields.ts'
import { Conflict } from '../../http/problem.ts'
import { type ForCaller, readForCaller } from '../../ledger/calls/read-for-caller.ts'
import { findLoan } from '../../ledger/loans/loan-calls.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { proofsOf } from '../proofs.ts'
import { putReference } from '../references/reference-calls.ts'
import type { NewReference, ReferenceKind, ReferenceName } from '../references/reference-record.ts'
import type { Days } from '../references/save-references.ts'
import { type Sender, senderFor } from '../repayment/due-payment.ts'
import { isBelieved, trustFor } from '../repayment/trust.ts'

export type Remembered = {
  kinds: ReferenceKind[]
  /** The loan's product at the ledger; undefined if it has no such loan. */
  product: string | undefined
  config: PaymentSettings
}

/**
 * The product of the loan, because the loan's lender decides what proves a reference. Undefined if no reference is to be
 * remembered.
 */
export async function productToRemember(at: ForCaller, loan: string, kinds: ReferenceKind[] = []) {
  if (kinds.length === 0 || !isExternalId(loan)) return undefined
  return (await readForCaller(at, ledger => findLoan(ledger, loan)))?.loanProductName
}

/**
 * Saves the payment's own references of these kinds for the loan: all later payments with them are posted to it, so
 * an event that proves nothing must not name them. @throws Conflict if none of a kind is proved, or if one is a
 * placeholder, or belongs to another loan, or only on some days
 */
export async function remember(
  trx: Trx,
  payment: string,
  { kinds, product, config, loan }: Remembered & { loan: string },
  asker: Asker,
): Promise<void> {
  if (kinds.length === 0) return
  if (product === undefined)
    throw new Conflict(
      `The ledger has no loan ${loan}, whose lender decides what proves a reference: leave out remember`,
    )
  const found = await referencesOf(trx, payment, { kinds, product, config })
  const proved = found.filter(({ isProved }) => isProved)
  const unproved = found.find(({ kind }) => !proved.some(one => one.kind === kind))
  if (unproved !== undefined)
    throw new Conflict(
      `No event that the lender of ${loan} takes as proved has the ${unproved.kind} ${unproved.value}: leave ${unproved.kind} out of remember`,
    )
  for (const { gateway, kind, value } of proved) {
    if ((madeUp(value) ?? placeholder(value)) !== undefined)
      throw new Conflict(
        `The ${kind} ${value} is a placeholder, not an id: leave ${kind} out of remember`,
      )
    const reference = { gateway, kind, value, external_loan_id: loan }
    const { before } = await putReference(trx, reference, asker)
    // Throwing rolls the change back.
    if (before) throw new Conflict(onlyOnDays(reference, before))
  }
}

function onlyOnDays({ kind, external_loan_id }: NewReference, { valid_from, valid_until }: Days) {
  const days = [valid_from && `from ${valid_from}`, valid_until && `until ${valid_until}`]
  return `The loan ${external_loan_id} has this ${kind} only ${days.filter(Boolean).join(' ')}: change these days at the reference, or do not remember it`
}

type Shown = { gateway: string; lender: string; verified: boolean }

/** Whether its references could be remembered for some loan of the lender that it names, or of every lender if it names none. */
export function isWorthRemembering({ lenders }: PaymentSettings, payment: Shown): boolean {
  const { lender, verified } = payment
  const gateway = payment.gateway as GatewayName
  const concerned = lendersNamed(lenders, lender)
  return verified || !concerned.some(one => one[gateway].validateSignature || one[gateway].confirm)
}

type Found = ReferenceName & { gateway: GatewayName; isProved: boolean }

/** The references of the events that count, in order. */
async function referencesOf(
  trx: Trx,
  payment: string,
  { kinds, product, config }: Remembered & { product: string },
): Promise<Found[]> {
  const proofs = proofsOf(config).filter(one => one.product === product)
  const { rows } = await sql<ReferenceName & { gateway: GatewayName; senders: Sender[] }>`
    select t.gateway, k.kind, substr(ref, length(k.kind) + 2) as value, s.senders
      from core.transaction t cross join lateral unnest(t.refs) ref cross join lateral split_part(ref, ':', 1) k (kind)
     cross join lateral (
       select coalesce(json_agg(json_build_object(${senderFor({ product, proofs })})), '[]') as senders
         from core.event
        where gateway_payment_id = t.gateway_payment_id and gateway = t.gateway and kind = t.kind and set_aside is null
          and status in ('captured', 'named') and ref = any(base.references_in(hints))) s
     where t.id = ${payment} and k.kind = any(${kinds})
     order by ref`.execute(trx)
  return rows.map(({ senders, ...reference }) => {
    const { trust } = trustFor(config, reference.gateway, product)
    return { ...reference, isProved: senders.some(sender => isBelieved(trust, sender)) }
  })
}
