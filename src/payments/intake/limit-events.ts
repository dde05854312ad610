import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { TooManyAttempts } from '../../accounts/throttling/too-many-attempts.ts'
import type { Config } from '../../config/config.ts'
import { lendersNamed } from '../../config/lenders.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { inNetworks } from '../../http/connections/networks.ts'
import type { GatewayName } from '../gateways/gateways.ts'

const WINDOW_SECONDS = 60

type From = { address: string | null; gateway: GatewayName; lender: string; isSigned(): boolean }

/**
 * Limits events that no signature proves.
 * @returns a function that says whether it counted the event, and throws 429 once an address has sent too many
 */
export function limitEvents({ WEBHOOKS_PER_MINUTE: points, lenders }: Config) {
  if (points === 0) return async () => false
  const limiter = new RateLimiterMemory({ points, duration: WINDOW_SECONDS })

  return async ({ address, gateway, lender, isSigned }: From): Promise<boolean> => {
    if ((address !== null && isAllowed(address, gateway, lender)) || isSigned()) return false
    await limiter.consume(addressKey(address)).catch(({ msBeforeNext }: RateLimiterRes) => {
      const seconds = Math.ceil(msBeforeNext / 1_000)
      throw new TooManyAttempts(seconds, 'Too many events from this address')
    })
    return true
  }

  function isAllowed(address: string, gateway: GatewayName, lender: string): boolean {
    return lendersNamed(lenders, lender).some(one => inNetworks(one[gateway].allowedCidrs)(address))
  }
}
