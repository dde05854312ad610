import type { GatewayName } from '../payments/gateways/gateways.ts'
import type { GatewayAccount } from './gateway-accounts.ts'
import type { GatewayTrust, Lender, SharedSecrets } from './lenders.ts'

type Known = { gateways: readonly SharedSecrets[]; lenders: ReadonlyMap<string, Lender> }
type Pair = { lender: string; gateway: GatewayName }

/** Pairs that accept webhook events without any proof of their sender, although no setting says that they may. */
export function unprovenPairs({ gateways, lenders }: Known): Pair[] {
  return gateways.flatMap(({ name: gateway }) =>
    [...lenders.values()]
      .filter(lender => !isCovered(lender[gateway]))
      .map(({ code: lender }) => ({ lender, gateway })),
  )
}

const isCovered = ({ validateSignature, allowedCidrs, confirm, isUnverified }: GatewayTrust) =>
  validateSignature || allowedCidrs.length > 0 || confirm || isUnverified

/** One line per pair, with what to write. Undefined if there is no such pair. */
export function howToProve(known: Known, accounts: GatewayAccount[]): string | undefined {
  const pairs = unprovenPairs(known)
  if (pairs.length === 0) return undefined
  const lines = pairs.map(({ lender, gateway }) => {
    const proof = accounts.some(one => one.gateway === gateway)
      ? { confirm: true }
      : { validateSignature: true, secretEnv: `${lender}_${gateway.toUpperCase()}_SECRET` }
    return `${lender}/${gateway}: ${JSON.stringify({ [lender]: { [gateway]: proof } })}`
  })
  const settings = known.gateways.flatMap(({ name, secretSetting }) =>
    secretSetting !== undefined && pairs.some(({ gateway }) => gateway === name)
      ? [`${secretSetting} holds a secret for all lenders of ${name}.`]
      : [],
  )
  return [
    'WEBHOOK_TRUST is required, but nothing proves the webhook events of these lenders and gateways. Write into LENDERS_FILE, for example:',
    ...lines,
    ...settings,
    'Or write "allowedCidrs": ["203.0.113.0/24"] to accept events from these networks only, "confirm": true to have the gateway confirm each event, or "trust": "unverified" to accept events without proof. LENDERS_DEFAULT applies to all of these pairs. Example: LENDERS_DEFAULT={"confirm": true}',
  ].join('\n')
}
