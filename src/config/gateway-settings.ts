import { type TSchema, Type } from '@sinclair/typebox'
import { apiSetting, type Gateway, type GatewayClient } from '../payments/gateways/gateway.ts'
import { CREDENTIALS_RISK, ONE_AT_LEAST, text } from './setting-formats.ts'

export const gatewaySettings = {
  LENDERS_FILE: Type.Optional(
    text('a JSON file that changes the lenders or adds some', '/etc/loanops/lenders.json'),
  ),
  LENDERS_DEFAULT: Type.Optional(
    text(
      'the members of a gateway, as in LENDERS_FILE, for each lender and gateway whose webhook events nothing proves',
      '{"confirm": true}',
    ),
  ),
  WEBHOOK_TRUST: Type.Union([Type.Literal('warn'), Type.Literal('required')], {
    description:
      'what happens at the start if nothing proves the webhook events of a lender’s gateway: warn, or required, which refuses to start',
    default: 'warn',
    examples: ['required'],
  }),
}

/** The settings of the gateways themselves. */
export function settingsOf(gateways: readonly Gateway[]): Record<string, TSchema> {
  return Object.assign({}, ...gateways.flatMap(gateway => [ofWebhooks(gateway), ofApi(gateway)]))
}

function ofWebhooks({ title, secretSetting, settings = {} }: Gateway) {
  const own = Object.entries(settings).map(([name, { description, example = '', ...options }]) => {
    const schema = text(description, options.default ?? example, options)
    return [name, options.default === undefined ? Type.Optional(schema) : schema]
  })
  const secret = secretSetting && { [secretSetting]: Type.Optional(webhookSecret(title)) }
  return { ...secret, ...Object.fromEntries(own) }
}

function ofApi({ name, title, client }: Gateway) {
  if (client === undefined) return {}
  const key = { format: 'header-value', isHidden: true }
  return {
    [apiSetting(name, 'URL')]: Type.Optional(apiUrl(title, client)),
    [apiSetting(name, 'KEY')]: Type.Optional(
      text(`the key for ${title}’s API`, 'key-of-the-api', key),
    ),
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

function apiUrl(title: string, { exampleUrl }: GatewayClient) {
  const end = exampleUrl.slice(exampleUrl.lastIndexOf('/'))
  return text(
    `the URL of ${title}’s API, up to and including ${end}, without a user or password`,
    exampleUrl,
    { pattern: `^https?://[^/?#@]+(/[^?#]*)?${end}$`, overHttp: CREDENTIALS_RISK },
  )
}
