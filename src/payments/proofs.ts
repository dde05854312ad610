import type { PaymentSettings } from '../config/config.ts'
import type { GatewayTrust } from '../config/lenders.ts'
import type { GatewayName } from './gateways/gateways.ts'
import { secretsKey } from './secrets-key.ts'

/** What proves an event to a lender, as in core.is_proved. */
export type Proof = {
  lender: string
  product: string
  gateway: GatewayName
  /** The lender with whose credentials the gateway is asked, or '' for the gateway's own. */
  account: string
  /** The lenders with the same secrets. */
  proved_by: string[]
}

export function proofsOf(
  { gateways, lenders }: PaymentSettings,
  isWanted: (trust: GatewayTrust) => boolean = () => true,
): Proof[] {
  return gateways.flatMap(({ name: gateway }) => {
    const sharers = Map.groupBy(lenders.values(), lender => secretsKey(lender, gateway))
    return [...sharers.values()].flatMap(sharing =>
      sharing
        .filter(lender => isWanted(lender[gateway]))
        .flatMap(lender =>
          lender.products.map(product => ({
            lender: lender.code,
            product,
            gateway,
            account: lender[gateway].api === undefined ? '' : lender.code,
            proved_by: sharing.map(({ code }) => code),
          })),
        ),
    )
  })
}
