import type { OpenGateway } from '../../config/config.ts'
import type { PayloadFields } from '../gateways/gateway.ts'

/** Why an event that was stored is probably not read; undefined if it has its gateway's form. */
export function whyStray(
  gateways: readonly OpenGateway[],
  gateway: OpenGateway,
  event: PayloadFields,
): string | undefined {
  if (gateway.isOwn(event)) return undefined
  const other = gateways.find(one => one.isOwn(event))
  return other === undefined
    ? `It does not have the form of ${gateway.title}’s events: a relay must pass them on as they come`
    : `It looks like an event of ${other.title}: enter the URL with ${other.path} there`
}
