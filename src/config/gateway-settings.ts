import { type TOptional, type TString, Type } from '@sinclair/typebox'
import { ONE_AT_LEAST, text } from './setting-formats.ts'

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
  GATEWAY_A_WEBHOOK_SECRET: Type.Optional(
    text('gateway A’s webhook secret; comma-separated while rotating', 'webhook-secret', {
      pattern: ONE_AT_LEAST,
    }),
  ),
  GATEWAY_A_SIGNATURE_HEADER: text(
    'the header with gateway A’s signature',
    'X-GatewayA-Signature',
    {
      default: 'X-GatewayA-Signature',
      format: 'header-name',
    },
  ),
  GATEWAY_A_EVENT_ID_HEADER: text('the header with gateway A’s event id', 'X-GatewayA-Event-Id', {
    default: 'X-GatewayA-Event-Id',
    format: 'header-name',
  }),
  ...gatewayApiSettings('GATEWAY_A', 'gateway A', 'https://gateway-a.example.com/v1'),
  ...gatewayApiSettings('GATEWAY_B', 'gateway B', 'https://gateway-b.example.com/pg'),
  GATEWAY_B_API_VERSION: text('the version of gateway B’s API', '2026-01-01', {
    default: '2026-01-01',
    pattern: '^20\\d\\d-\\d\\d-\\d\\d$',
  }),
}

/** The example ends with the API's required path. */
function gatewayApiSettings<P extends 'GATEWAY_A' | 'GATEWAY_B'>(
  prefix: P,
  title: string,
  example: string,
) {
  const end = example.slice(example.lastIndexOf('/'))
  return {
    [`${prefix}_API_URL`]: Type.Optional(
      text(
        `the URL of ${title}’s API, up to and including ${end}, without a user or password`,
        example,
        {
          pattern: `^https?://[^/?#@]+(/[^?#]*)?${end}$`,
        },
      ),
    ),
    [`${prefix}_API_KEY`]: Type.Optional(
      text(`the key for ${title}’s API`, 'key-of-the-api', { format: 'header-value' }),
    ),
    [`${prefix}_API_SECRET`]: Type.Optional(
      text(`the secret for ${title}’s API`, 'secret-of-the-api', { format: 'header-value' }),
    ),
  } as Record<`${P}_API_${'URL' | 'KEY' | 'SECRET'}`, TOptional<TString>>
}
