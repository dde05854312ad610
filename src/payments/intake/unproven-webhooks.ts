import { Gauge, type Registry } from 'prom-client'
import type { Config, PaymentSettings } from '../../config/config.ts'
import { unprovenPairs } from '../../config/webhook-trust.ts'
import type { Ask } from '../../ops/health.ts'

/** Shows, in a line of the log and a gauge, which lenders and gateways have webhook events that nothing proves. */
export function showUnproven(
  log: { warn(message: string): void },
  registry: Registry,
  config: PaymentSettings,
): void {
  const gauge = new Gauge({
    name: 'loanops_webhooks_unproven',
    help: 'Lenders whose webhook events of this gateway nothing proves',
    labelNames: ['gateway'],
    registers: [registry],
  })
  const pairs = unprovenPairs(config)
  const unproven = config.gateways.flatMap(({ name: gateway }) => {
    const lenders = pairs.filter(pair => pair.gateway === gateway).map(({ lender }) => lender)
    gauge.set({ gateway }, lenders.length)
    return lenders.length === 0 ? [] : [`${gateway} (${lenders.join(', ')})`]
  })
  if (unproven.length === 0) return
  const remedy =
    'set validateSignature, allowedCidrs, confirm or "trust": "unverified" in LENDERS_FILE, or LENDERS_DEFAULT'
  log.warn(`webhook events are not authenticated for ${unproven.join('; ')}: ${remedy}`)
}

/** Lenders are named on OPS_PORT alone: without it anybody may ask, and would learn whose events to forge. */
export async function webhookReport(_ask: Ask, config: PaymentSettings & Pick<Config, 'OPS_PORT'>) {
  const isPublic = config.OPS_PORT === undefined
  const unproven = unprovenPairs(config).map(({ lender, gateway }) =>
    isPublic ? gateway : `${lender}/${gateway}`,
  )
  return { webhooks: { unproven: [...new Set(unproven)] } }
}
