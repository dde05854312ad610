import type { Static } from '@sinclair/typebox'
import { SECRET_SETTINGS } from './secrets.ts'
import { Settings } from './settings.ts'

type Given = Static<typeof Settings>

/** The key of an API is half of its credentials, and the administrator is a person; roles may be given to addresses of people. */
const HIDDEN: string[] = [
  ...SECRET_SETTINGS,
  'GATEWAY_A_API_KEY',
  'GATEWAY_B_API_KEY',
  'ADMIN_USERNAME',
  'OIDC_ROLES',
]
/** The path, query or user of these URLs may be a secret; the other URLs may have none of these. */
const ORIGIN_ALONE = ['CALLBACK_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT']

/** The settings that differ from their default, for the log. A secret only shows that it is set. */
export function shownSettings(settings: Given): Record<string, unknown> {
  const shown = Object.entries(settings).flatMap(([name, value]) => {
    const { default: standard } = Settings.properties[name as keyof Given]
    return value === undefined || value === standard ? [] : [[name, shownValue(name, value)]]
  })
  return Object.fromEntries(shown)
}

function shownValue(name: string, value: unknown): unknown {
  if (name === 'DATABASE_URL') {
    const { username, host, pathname } = new URL(String(value))
    return `${username}@${host}${pathname}`
  }
  if (HIDDEN.includes(name)) return 'set'
  return ORIGIN_ALONE.includes(name) ? new URL(String(value)).origin : value
}
