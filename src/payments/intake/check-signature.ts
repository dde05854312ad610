import type { IncomingHttpHeaders } from 'node:http'
import { type Lender, lendersNamed } from '../../config/lenders.ts'
import type { GatewayRules } from '../gateways/gateway.ts'
import type { GatewayName } from '../gateways/gateways.ts'
import { secretsKey } from '../proofs.ts'

type Sent = { lender: string; body: Buffer; headers: IncomingHttpHeaders }

export function checkSignature(
  lenders: ReadonlyMap<string, Lender>,
  gateway: Pick<GatewayRules, 'isSigned'> & { name: GatewayName },
  { lender: code, body, headers }: Sent,
) {
  const asked = lendersNamed(lenders, code)
  const tried = new Map<string, boolean>()
  const fitting = asked.filter(one => one[gateway.name].secrets.map(isFitting).includes(true))
  return {
    isRefused: fitting.length === 0 && asked.every(one => one[gateway.name].validateSignature),
    verifiedBy: fitting.length === 0 ? null : firstOfEach(fitting).join(','),
  }

  /** Tries each secret once, as lenders may share them, and always tries all of them. */
  function isFitting(secret: string): boolean {
    const isSigned = tried.get(secret) ?? gateway.isSigned(secret, body, headers)
    tried.set(secret, isSigned)
    return isSigned
  }

  function firstOfEach(fits: Lender[]): string[] {
    const bySecrets = new Map<string, string>()
    for (const one of fits.toReversed()) bySecrets.set(secretsKey(one, gateway.name), one.code)
    return [...bySecrets.values()].sort()
  }
}
