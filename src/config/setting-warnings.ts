import type { Static } from '@sinclair/typebox'
import { LOOPBACK } from './loopback.ts'
import { SECRET_SETTINGS, secretsIn } from './secrets.ts'
import type { Settings } from './settings.ts'

type Given = Static<typeof Settings>

const CREDENTIALS = 'read the credentials and change the answers'
/** What somebody between us and another host could do over plain HTTP. */
const RISKS = {
  LEDGER_URL: CREDENTIALS,
  GATEWAY_A_API_URL: CREDENTIALS,
  GATEWAY_B_API_URL: CREDENTIALS,
  CALLBACK_URL: 'read the callbacks',
} as const satisfies { [S in keyof Given]?: string }

/** One line for each setting that is valid, but is not safe or perhaps not meant. */
export function warningsOf(settings: Given): string[] {
  return [
    ...sharedSecrets(settings),
    ...passwordThatIsTheName(settings),
    ...quoted(settings),
    ...plainUrls(settings),
  ]
}

function sharedSecrets(settings: Given): string[] {
  const known = SECRET_SETTINGS.map(name => ({
    name,
    secrets: secretsIn(name, String(settings[name] ?? '')),
  }))
  return known.flatMap(({ name, secrets }, i) =>
    known
      .slice(i + 1)
      .filter(other => other.secrets.some(secret => secrets.includes(secret)))
      .map(other => `${name} and ${other.name} hold the same secret: give each one of its own`),
  )
}

function passwordThatIsTheName({ ADMIN_USERNAME: name, ADMIN_PASSWORD: password }: Given) {
  return name !== undefined && name.toLowerCase() === password?.toLowerCase()
    ? ['ADMIN_PASSWORD is the name in ADMIN_USERNAME: anybody will try it first']
    : []
}

/** Node, systemd and Compose take quotation marks around a value away, `docker run --env-file` and Kubernetes do not. */
function quoted(settings: Given): string[] {
  return Object.entries(settings)
    .filter(([, text]) => /^(["']).*\1$/.test(String(text)))
    .map(([name]) => `${name} begins and ends with a quotation mark, which is taken as part of it`)
}

function plainUrls(settings: Given): string[] {
  return Object.entries(RISKS).flatMap(([name, risk]) => {
    const { protocol, hostname } = new URL(settings[name as keyof typeof RISKS] ?? 'https://unset')
    return protocol === 'https:' || LOOPBACK.test(hostname)
      ? []
      : [`${name} uses plain HTTP: whoever is between us and ${hostname} can ${risk}; use HTTPS`]
  })
}
