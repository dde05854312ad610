import type { Static, TSchema } from '@sinclair/typebox'
import { withHost } from './setting-formats.ts'
import type { Settings } from './settings.ts'

/** The path, query or user of these URLs may be a secret; the other URLs may have none of these. */
const ORIGIN_ALONE = ['CALLBACK_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT']

/** The settings that differ from their default, for the log. A secret only shows that it is set. */
export function shownSettings(
  { properties }: { properties: Record<string, TSchema> },
  settings: Static<typeof Settings>,
): Record<string, unknown> {
  const shown = Object.entries(settings).flatMap(([name, value]) => {
    const schema = properties[name] as TSchema
    return value === undefined || value === schema.default
      ? []
      : [[name, shownValue(name, schema, value)]]
  })
  return Object.fromEntries(shown)
}

function shownValue(name: string, { secret, isHidden }: TSchema, value: unknown): unknown {
  if (name === 'DATABASE_URL') {
    const { username, host, pathname, searchParams: query } = new URL(withHost(String(value)))
    return `${query.get('user') ?? username}@${query.get('host') ?? host}${pathname}`
  }
  if (secret || isHidden) return 'set'
  return ORIGIN_ALONE.includes(name) ? new URL(String(value)).origin : value
}
