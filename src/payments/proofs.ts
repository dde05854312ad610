import type { PaymentSettings } from '../config/config.ts'
import type { GatewayTrust, Lender } from '../config/lenders.ts'
import type { GatewayName } from './gateways/gateways.ts'

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

type Signing = Proof & { validates: boolean }

/**
 * What proves an event to which lender. Nothing for a gateway where no lender's secret could pass for that of a lender who
 * validates signatures. One secret in common is enough: while secrets are changed, some lenders have the new one already.
 */
export function signersOf(config: PaymentSettings): Signing[] {
  const lenders = [...config.lenders.values()]
  const signing = proofsOf(config).map(proof => {
    const { secrets = [], validateSignature = false } =
      config.lenders.get(proof.lender)?.[proof.gateway] ?? {}
    const sharing = lenders.filter(one => one[proof.gateway].secrets.some(s => secrets.includes(s)))
    const proved_by = [...new Set([...proof.proved_by, ...sharing.map(({ code }) => code)])].sort()
    return { ...proof, proved_by, validates: validateSignature }
  })
  const hasOthers = ({ gateway, proved_by, validates }: Signing) =>
    validates &&
    lenders.some(one => one[gateway].secrets.length > 0 && !proved_by.includes(one.code))
  const divided = new Set(signing.filter(hasOthers).map(({ gateway }) => gateway))
  return signing.filter(({ gateway }) => divided.has(gateway))
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

/** A key that is equal for lenders that share their secrets for this gateway, in whatever order each lists them. */
export const secretsKey = (lender: Lender, gateway: GatewayName): string =>
  JSON.stringify(lender[gateway].secrets.toSorted())
