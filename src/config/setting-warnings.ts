import type { Static, TSchema } from '@sinclair/typebox'
import pg from 'pg'
import { publicReason } from '../log/public-error.ts'
import type { GatewayTrust, Lender } from './lenders.ts'
import { LOOPBACK } from './loopback.ts'
import { secretsInSetting } from './secrets.ts'
import type { Settings } from './settings/settings.ts'

type Given = Static<typeof Settings>
type Known = { properties: Record<string, TSchema> }

/** One line for each setting that is valid, but is not safe or perhaps not meant. */
export function warningsOf(known: Known, settings: Given, lenders: ReadonlyMap<string, Lender>) {
  return [
    ...sharedSecrets(known, settings),
    ...shortWebhookSecrets(lenders),
    ...passwordThatIsTheName(settings),
    ...quoted(settings),
    ...plainUrls(known, settings),
    ...plainDatabase(settings),
  ]
}

function sharedSecrets({ properties }: Known, settings: Given): string[] {
  const known = Object.entries(properties).map(([name, schema]) => ({
    name,
    secrets: secretsInSetting(schema, String(settings[name as keyof Given] ?? '')),
  }))
  return known.flatMap(({ name, secrets }, i) =>
    known
      .slice(i + 1)
      .filter(other => other.secrets.some(secret => secrets.includes(secret)))
      .map(other => `${name} and ${other.name} hold the same secret: give each one of its own`),
  )
}

/** A password must have as many characters. */
const SHORTEST_SECRET = 12

/** Gateways let people choose these secrets, however short. */
function shortWebhookSecrets(lenders: ReadonlyMap<string, Lender>): string[] {
  const short = [...lenders.values()].flatMap(Object.values).flatMap(one => {
    const { secrets = [], secretSetting = '' } = one as Partial<GatewayTrust>
    return secrets.some(secret => secret.length < SHORTEST_SECRET) ? [secretSetting] : []
  })
  return [...new Set(short)].map(
    name =>
      `${name} holds a secret of fewer than ${SHORTEST_SECRET} characters: whoever guesses it signs events like the gateway, and may try any number; set a longer one here and at the gateway`,
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

function plainUrls({ properties }: Known, settings: Given): string[] {
  return Object.entries(properties).flatMap(([name, { overHttp: risk }]) => {
    const url = settings[name as keyof Given]
    if (risk === undefined || url === undefined) return []
    const { protocol, hostname } = new URL(String(url))
    return protocol === 'https:' || LOOPBACK.test(hostname)
      ? []
      : [`${name} uses plain HTTP: anyone between us and ${hostname} can ${risk}; use HTTPS`]
  })
}

function plainDatabase({ DATABASE_URL: url }: Given): string[] {
  const { host, isChecked, trouble } = connection(url)
  if (trouble !== undefined) return [`DATABASE_URL cannot be used: ${trouble}`]
  // A path is that of a socket of this machine.
  const isHere = host.startsWith('/') || host === '::1' || LOOPBACK.test(host)
  return isHere || isChecked
    ? []
    : [
        `DATABASE_URL does not have the server's certificate checked: anyone between us and ${host} can read and change everything; add ?sslmode=verify-full&sslrootcert=FILE`,
      ]
}

/** Asks pg itself, which also takes the host from the query, and the use of TLS from `ssl` and from PGSSLMODE. */
function connection(connectionString: string) {
  try {
    const { host, ssl } = new pg.Client({ connectionString })
    const options = ssl as boolean | { rejectUnauthorized?: boolean }
    const isChecked = typeof options === 'object' ? options.rejectUnauthorized !== false : options
    return { host, isChecked, trouble: undefined }
  } catch (error) {
    // It reads the file of `sslrootcert`.
    return { host: '', isChecked: false, trouble: publicReason(error as Error) }
  }
}
