import type { IncomingHttpHeaders } from 'node:http'
import { type Lender, lendersNamed } from '../../config/lenders.ts'
import type { GatewayRules } from '../gateways/gateway.ts'
import type { GatewayName } from '../gateways/gateways.ts'

const MAX_NAMED = 3
/** No gateway's header has a longer name. */
const MAX_NAME_CHARACTERS = 60

/** The correction to make where no signature fits, for the person who sets the webhook up. */
export function whyUnsigned(
  lenders: ReadonlyMap<string, Lender>,
  { name: gateway, signedBy }: Pick<GatewayRules, 'signedBy'> & { name: GatewayName },
  code: string,
  headers: IncomingHttpHeaders,
): string {
  const given = (header: string) => headers[header.toLowerCase()]
  const missing = signedBy.find(({ header }) => given(header) === undefined)
  if (missing !== undefined) return `The header ${missing.header} is missing${others()}`
  const malformed = signedBy.find(({ header, form }) => !form.test(String(given(header))))
  if (malformed !== undefined)
    return `The header ${malformed.header} does not hold ${malformed.holds}`
  const asked = lendersNamed(lenders, code)
  const settings = new Set(asked.flatMap(one => one[gateway].secretSetting ?? []))
  const whose = lenders.has(code) ? code : 'any lender'
  return `The signature does not match the secret of ${whose} (${some([...settings])}): compare it with the one at the gateway, and check that no proxy changes the body`

  function others(): string {
    const names = Object.keys(headers).filter(name => name.includes('signature'))
    return names.length === 0 ? '' : `; the call has ${some(names)}`
  }
}

function some(names: string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(name => name.slice(0, MAX_NAME_CHARACTERS))
  return [...shown, ...(names.length > MAX_NAMED ? ['…'] : [])].join(', ')
}
