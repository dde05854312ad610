import type { Gateway } from '../payments/gateways/gateway.ts'
import { isAlmost } from './almost.ts'

/** No other program's settings begin so, or with a gateway's name. */
const OUR_BEGINNINGS = ['LEDGER', 'CALLBACK', 'OIDC']
/** Kubernetes and Docker set these for a service that is named like the beginning of ours. */
const SERVICE_ENDINGS = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_\w+)?)?|NAME|ENV_\w+)$/
/** A name this short may be anything. */
const SHORT_NAME = 6

/**
 * One line for each variable that looks like a setting and is none: it has no effect.
 * @param named what LENDERS_FILE names as a setting
 */
export function unknownSettings(
  env: NodeJS.ProcessEnv,
  { properties }: { properties: object },
  named: ReadonlySet<string>,
  gateways: readonly Gateway[],
): string[] {
  const names = Object.keys(properties)
  const ofGateways = gateways.map(({ name }) => name.toUpperCase())
  const beginning = new RegExp(`^(${[...OUR_BEGINNINGS, ...ofGateways].join('|')})_`)
  return Object.keys(env)
    .filter(name => !names.includes(name) && !named.has(name) && !SERVICE_ENDINGS.test(name))
    .flatMap(name => {
      const isLong = name.length >= SHORT_NAME
      const meant = names.find(
        // Few people misspell the first letter, and APP_PORT is another program's.
        setting => isLong && setting[0] === name[0] && isAlmost(name, setting),
      )
      if (meant !== undefined) return [`${name} is not a setting: did you mean ${meant}?`]
      return beginning.test(name)
        ? [`${name} is not a setting, and LENDERS_FILE does not name it`]
        : []
    })
}
