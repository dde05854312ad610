import type { Config } from '../config/config.ts'
import type { GatewayTrust } from '../config/lenders.ts'

export function warnOfUnauthenticated(
  log: { warn(message: string): void },
  { gateways, lenders }: Pick<Config, 'gateways' | 'lenders'>,
): void {
  const unproven = gateways
    .map(({ name }) => ({ name, of: [...lenders.values()].filter(one => !isProven(one[name])) }))
    .filter(({ of }) => of.length > 0)
    .map(({ name, of }) => `${name} (${of.map(({ code }) => code).join(', ')})`)
  if (unproven.length === 0) return
  const remedy = 'set validateSignature, allowedCidrs or confirm in LENDERS_FILE'
  log.warn(`Webhook events are not authenticated for ${unproven.join('; ')}: ${remedy}`)
}

const isProven = ({ validateSignature, allowedCidrs, confirm }: GatewayTrust) =>
  validateSignature || allowedCidrs.length > 0 || confirm
