import { isAlmost } from './almost.ts'
import { Settings } from './settings.ts'

/** No other program's settings begin so. */
const OUR_BEGINNING = /^(LEDGER|GATEWAY_[AB]|CALLBACK|OIDC)_/
/** Kubernetes and Docker set these for a service that is named like the beginning of ours. */
const OF_SERVICES = /_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP)(_\w+)?)?|NAME|ENV_\w+)$/
/** A name this short may be anything. */
const SHORT_NAME = 6
const NAMES = Object.keys(Settings.properties)

/**
 * One line for each variable that looks like a setting and is none: it has no effect.
 * @param named what LENDERS_FILE names as a setting
 */
export function unknownSettings(env: NodeJS.ProcessEnv, named: ReadonlySet<string>): string[] {
  return Object.keys(env)
    .filter(name => !NAMES.includes(name) && !named.has(name) && !OF_SERVICES.test(name))
    .flatMap(name => {
      const isLong = name.length >= SHORT_NAME
      const meant = NAMES.find(
        // Few people misspell the first letter, and APP_PORT is another program's.
        setting => isLong && setting[0] === name[0] && isAlmost(name, setting),
      )
      if (meant !== undefined) return [`${name} is not a setting: did you mean ${meant}?`]
      return OUR_BEGINNING.test(name)
        ? [`${name} is not a setting, and LENDERS_FILE does not name it`]
        : []
    })
}
