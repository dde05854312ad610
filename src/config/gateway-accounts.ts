import { type ApiPart, apiSetting } from '../payments/gateways/gateway.ts'
import type { Lender, SharedSecrets } from './lenders.ts'

export type GatewayAccount = {
  gateway: SharedSecrets['name']
  /** The lender that owns the account; null if lenders without one share it. */
  lender: string | null
  url: string
  key: string
  secret: string
}

export function gatewayAccounts(
  env: NodeJS.ProcessEnv,
  gateways: SharedSecrets[],
  lenders: ReadonlyMap<string, Lender>,
): { accounts: GatewayAccount[]; missing: string[] } {
  const missing: string[] = []
  const accounts = gateways.flatMap(({ name: gateway }) => {
    const given = (part: ApiPart) => {
      const name = apiSetting(gateway, part)
      return { name, value: env[name] ?? '' }
    }
    const [url, key, secret] = [given('URL'), given('KEY'), given('SECRET')]
    const own = [...lenders.values()].flatMap(lender => {
      const { api } = lender[gateway]
      return api === undefined ? [] : [{ gateway, lender: lender.code, url: url.value, ...api }]
    })
    // Whether the lender's events count only once the gateway is asked.
    const isAsked = ({ [gateway]: { confirm, api } }: Lender) => confirm && api === undefined
    // Lenders with credentials of their own need only the URL.
    const isShared =
      key.value !== '' ||
      secret.value !== '' ||
      (url.value !== '' && own.length === 0) ||
      [...lenders.values()].some(isAsked)
    const needed = [
      ...(isShared || own.length > 0 ? [url] : []),
      ...(isShared ? [key, secret] : []),
    ]
    missing.push(...needed.filter(({ value }) => value === '').map(({ name }) => name))
    const shared = { gateway, lender: null, url: url.value, key: key.value, secret: secret.value }
    return isShared ? [shared, ...own] : own
  })
  return { accounts, missing }
}
