import type { SettledKind } from '../payments/gateways/gateway-api.ts'

type Part = {
  settlement_id?: string | undefined
  kind: SettledKind
  id?: string | null | undefined
  is_of_payout?: boolean
}

/** The last copy of each part: a list may have a part twice, for instance where a settlement failed and was paid out again. */
export function lastParts<P extends Part>(parts: P[]): P[] {
  const key = ({ settlement_id, kind, id, is_of_payout }: P) =>
    JSON.stringify([settlement_id, kind, id, is_of_payout])
  return [...new Map(parts.map(one => [key(one), one])).values()]
}
