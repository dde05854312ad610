import { type TSchema, Type } from '@sinclair/typebox'
import { apiSetting, type Gateway } from '../../payments/gateways/gateway.ts'
import { CREDENTIALS_RISK, choice, ONE_AT_LEAST, text, textIfSet } from './setting-formats.ts'

export const gatewaySettings = {
  LENDERS_FILE: textIfSet(
    'a JSON file that changes the lenders or adds some',
    '/etc/loanops/lenders.json',
  ),
  LENDERS_DEFAULT: textIfSet(
    'the members of a gateway, as in LENDERS_FILE, for each lender and gateway whose webhook events have no proof',
    '{"confirm": true}',
  ),
  WEBHOOK_TRUST: choice(
    ['warn', 'required'],
    'what happens at the start if nothing proves the webhook events of a lender’s gateway: warn, or required, which refuses to start',
    'warn',
    'required',
  ),
}

export function settingsOf(gateways: readonly Gateway[]): Record<string, TSchema> {
  return Object.assign(
    {},
    ...gateways.flatMap(gateway => [ownSettings(gateway), apiSettings(gateway)]),
  )
}

function ownSettings({ title, secretSetting, settings = {} }: Gateway) {
  const own = Object.entries(settings).map(([name, { description, example = '', ...options }]) => {
    const schema = text(description, options.default ?? example, options)
    return [name, options.default === undefined ? Type.Optional(schema) : schema]
  })
  const secret = secretSetting && { [secretSetting]: Type.Optional(webhookSecret(title)) }
  return { ...secret, ...Object.fromEntries(own) }
}

/** The URL ends as its example does. */
function apiSettings({ name, title, client }: Gateway) {
  if (client === undefined) return {}
  const end = client.exampleUrl.slice(client.exampleUrl.lastIndexOf('/'))
  const url = text(
    `the URL of ${title}’s API, up to and including ${end}, without a user or password`,
    client.exampleUrl,
    { pattern: `^https?://[^/?#@]+(/[^?#]*)?${end}$`, overHttp: CREDENTIALS_RISK },
  )
  const hidden = { format: 'header-value', isHidden: true }
  const key = text(`the key for ${title}’s API`, 'key-of-the-api', hidden)
  return {
    [apiSetting(name, 'URL')]: Type.Optional(url),
    [apiSetting(name, 'KEY')]: Type.Optional(key),
    [apiSetting(name, 'SECRET')]: Type.Optional(apiSecret(title)),
  }
}

export const webhookSecret = (title = '') =>
  text(`${title}’s webhook secret; comma-separated while rotating`, 'webhook-secret', {
    pattern: ONE_AT_LEAST,
    secret: 'list',
  })

export const apiSecret = (title = '') =>
  text(`the secret for ${title}’s API`, 'secret-of-the-api', {
    format: 'header-value',
    secret: 'whole',
  })
