import type { Lender } from '../../config/lenders.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { UNKNOWN } from '../payment-event.ts'

type Named = { inUrl: unknown[]; accounts: unknown[]; inNotes: unknown[] }

/** The lender of an event, UNKNOWN if the event names none, one that is not configured, or two. */
export function lenderOf(
  lenders: ReadonlyMap<string, Lender>,
  gateway: GatewayName,
  { inUrl, accounts, inNotes }: Named,
): string {
  const byUrl = inUrl.filter(isNamed)
  const byNotes = inNotes.filter(isNamed)
  const given = accounts.map(id => (typeof id === 'number' ? String(id) : id))
  const holders = [...lenders.values()]
    .filter(lender => lender[gateway].accounts.some(account => given.includes(account)))
    .map(({ code }) => code)
  const [chosen] = [byUrl, holders, byNotes].find(names => names.length > 0) ?? []
  if (typeof chosen !== 'string' || !lenders.has(chosen)) return UNKNOWN
  // An account that several lenders share contradicts none of them and identifies none of them.
  const isOfAccount =
    holders.length === 0 || (holders.includes(chosen) && (holders.length === 1 || byUrl.length > 0))
  const isAgreed =
    byUrl.every(name => name === chosen) &&
    isOfAccount &&
    // Other values in notes are ignored: people write anything there.
    byNotes.every(name => name === chosen || !lenders.has(name as string))
  return isAgreed ? chosen : UNKNOWN
}

const isNamed = (name: unknown) => name !== undefined && name !== null && name !== ''
