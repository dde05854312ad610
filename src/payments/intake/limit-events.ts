import createError from '@fastify/error'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../../config/config.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { inNetworks } from '../../http/connections/networks.ts'
import type { Gateway } from '../gateways/gateways.ts'

const WINDOW_SECONDS = 60

/** The error handler sends the error's seconds as `Retry-After`. */
class TooManyEvents extends createError(
  'TOO_MANY_ATTEMPTS',
  'Too many events from this address: try again in %s seconds',
  429,
) {
  readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super(retryAfterSeconds)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

type From = { address: string | null; gateway: Gateway; lender: string }

/** Limits events that no signature proves. @returns a function that throws 429 once an address has sent too many */
export function limitEvents({ WEBHOOKS_PER_MINUTE: points, lenders }: Config) {
  if (points === 0) return async () => {}
  const limiter = new RateLimiterMemory({ points, duration: WINDOW_SECONDS })

  return async ({ address, gateway, lender }: From): Promise<void> => {
    if (address !== null && isAllowed(address, gateway, lender)) return
    await limiter.consume(addressKey(address)).catch(({ msBeforeNext }: RateLimiterRes) => {
      throw new TooManyEvents(Math.ceil(msBeforeNext / 1_000))
    })
  }

  /** An event that names no lender may be any lender's. */
  function isAllowed(address: string, gateway: Gateway, lender: string): boolean {
    const named = lenders.get(lender)
    const asked = named === undefined ? [...lenders.values()] : [named]
    return asked.some(one => inNetworks(one[gateway].allowedCidrs)(address))
  }
}
