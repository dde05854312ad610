import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { FormatRegistry, Type } from '@sinclair/typebox'
import { CronExpressionParser } from 'cron-parser'
import { includeEverybody } from '../everybody.ts'

const WIDEST_PREFIX = { ipv4: 32, ipv6: 128 } as const

FormatRegistry.Set('time-zone', isTimeZone)
// What follows a # in a password would end the URL, and its beginning would be taken for the host.
FormatRegistry.Set(
  'database-url',
  url => /^postgres(ql)?:\/\/[^#]*$/.test(url) && URL.canParse(withHost(url)),
)
// The credentials are settings of their own: those in the URL would never be sent.
FormatRegistry.Set(
  'ledger-url',
  url => /^https?:\/\/[^/?#@]+(\/[^?#]*)?\/api\/v1$/.test(url) && URL.canParse(url),
)
FormatRegistry.Set('http-url', url => /^https?:\/\//.test(url) && URL.canParse(url))
// The log shows this one whole.
FormatRegistry.Set(
  'public-url',
  url => /^https?:\/\/[^/?#@]+([/?#]|$)/.test(url) && URL.canParse(url),
)
FormatRegistry.Set('network', isNetwork)
FormatRegistry.Set('proxies', list => {
  const networks = listOf(list)
  // If the networks included everybody, anyone could act as our proxy.
  return networks.every(isNetwork) && !includeEverybody(networks)
})
FormatRegistry.Set('header-value', isHeaderValue)
FormatRegistry.Set('header-name', name => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
FormatRegistry.Set('certificate-file', isCertificate)
FormatRegistry.Set('cron', isCron)
FormatRegistry.Set('cron-or-off', text => text === '' || isCron(text))

/** A user without a host is no URL, but libpq and pg take the host from the query or their default. */
export const withHost = (url: string) => url.replace(/@\/(?=[^@]*$)/, '@localhost/')

/** Options of our own: `secret`, how it holds secrets; `isHidden`, from the log; `overHttp`, what plain HTTP would risk. */
export const text = (description: string, example: string, options = {}) =>
  Type.String({ description, examples: [example], minLength: 1, ...options })
export const textIfSet = (...given: Parameters<typeof text>) => Type.Optional(text(...given))
export const yesOrNo = (description: string, standard: boolean, example = standard) =>
  Type.Boolean({ description, default: standard, examples: [example] })
export const choice = <T extends string>(
  values: readonly T[],
  description: string,
  standard: NoInfer<T>,
  example = standard,
) =>
  Type.Union(
    values.map(value => Type.Literal(value)),
    { description, default: standard, examples: [example] },
  )
export function eachOf(length: number, prefix = ''): string {
  const one = `\\s*${prefix}[^,\\s][^,]{${length - 2},}[^,\\s]\\s*`
  return `^${one}(,${one})*$`
}
/** The risk of plain HTTP: somebody between us and another host. */
export const CREDENTIALS_RISK = 'read the credentials and change the answers'
/** Blanks and commas alone name nothing. */
export const ONE_AT_LEAST = '[^,\\s]'
export const wholeNumber = (
  description: string,
  standard: number,
  minimum: number,
  maximum: number,
) => Type.Integer({ description, default: standard, examples: [standard], minimum, maximum })

/** Control and formatting characters, such as a zero-width space that came with a copied secret. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** @returns what is wrong with a setting's text, whatever it is for */
export function troubleInSetting(setting: string): string | undefined {
  return UNSEEN.test(setting) ? 'contains a line break or another invisible character' : undefined
}

/** Whether Node accepts the text as the value of a header; otherwise every call would fail. */
export function isHeaderValue(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text)
}

/**
 * Files, shells and compose files leave blanks and line breaks at the ends. A setting of blanks alone stays as it
 * is, so that it is refused and not taken for unset.
 */
export function trimmedEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, text?.trim() || text]))
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  return (
    prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= WIDEST_PREFIX[family])
  )
}

/**
 * Whether the text is UTC or a name such as Area/City: PostgreSQL reads abbreviations and offsets differently. Intl's
 * own list lacks Asia/Kolkata.
 */
function isTimeZone(name: string): boolean {
  try {
    return (
      (name === 'UTC' || name.includes('/')) &&
      Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
    )
  } catch {
    return false
  }
}

function isCertificate(path: string): boolean {
  try {
    return Boolean(new X509Certificate(readFileSync(path)))
  } catch {
    return false
  }
}

const CRON_FIELDS = 5

/** With `H`, each process would have a minute of its own. */
function isCron(text: string): boolean {
  if (text.split(' ').length !== CRON_FIELDS || /\bH\b/i.test(text)) return false
  try {
    CronExpressionParser.parse(text)
    return true
  } catch {
    return false
  }
}

export function listOf(commaSeparated: string): string[] {
  return commaSeparated
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}
