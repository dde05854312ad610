import type { Lender } from '../lenders.ts'
import type { Gateway } from './gateways/gateways.ts'
import { UNKNOWN } from './payment-event.ts'

export type Named = {
  /** `?lender=` of the webhook's URL, as often as it was given. */
  inUrl: unknown[]
  accounts: unknown[]
  inNotes: unknown[]
}

/** The lender that an event speaks for; UNKNOWN for none, for one that is not configured, and for two. */
export function lenderOf(
  lenders: ReadonlyMap<string, Lender>,
  gateway: Gateway,
  { inUrl, accounts, inNotes }: Named,
): string {
  const byUrl = inUrl.filter(isNamed)
  const byNotes = inNotes.filter(isNamed)
  // An id is a text, also where a gateway writes it as a number.
  const given = accounts.map(id => (typeof id === 'number' ? String(id) : id))
  const holders = [...lenders.values()]
    .filter(lender => lender[gateway].accounts.some(account => given.includes(account)))
    .map(({ code }) => code)
  const [chosen] = [byUrl, holders, byNotes].find(names => names.length > 0) ?? []
  if (typeof chosen !== 'string' || !lenders.has(chosen)) return UNKNOWN
  // An account that lenders share contradicts none of them, and names none of them either.
  const isOfAccount =
    holders.length === 0 || (holders.includes(chosen) && (holders.length === 1 || byUrl.length > 0))
  const isAgreed =
    byUrl.every(name => name === chosen) &&
    isOfAccount &&
    // In notes people write all sorts of things under this name.
    byNotes.every(name => name === chosen || !lenders.has(name as string))
  return isAgreed ? chosen : UNKNOWN
}

const isNamed = (name: unknown) => name !== undefined && name !== null && name !== ''
