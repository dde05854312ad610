import { isDeepStrictEqual } from 'node:util'
import { MAX_INT } from '../../config/settings/settings.ts'

type Schema = {
  title?: string
  type?: string | string[]
  format?: string
  pattern?: string
  maximum?: number
  anyOf?: Ref[]
  discriminator?: { propertyName: string; mapping?: Record<string, string> }
  properties?: Record<string, { enum?: string[] }>
}
type Ref = { $ref: string }
export type Schemas = Record<string, Schema>

const PLACE = '#/components/schemas/'
const EXAMPLES = ['example', 'examples']

/**
 * Generators name a class after its component, and many can neither name nor tell apart what is written in place.
 * @returns the same with a reference for each schema that has a title, which is put into `schemas`
 */
export function nameSchemas(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map(one => nameSchemas(one, schemas))
  if (typeof value !== 'object' || value === null) return value
  const { title, ...schema } = precise(
    Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        EXAMPLES.includes(name) ? member : nameSchemas(member, schemas),
      ]),
    ),
    schemas,
  )
  if (typeof title !== 'string') return title === undefined ? schema : { title, ...schema }
  if (!isDeepStrictEqual(schemas[title] ?? schema, schema))
    throw new Error(`Two schemas have the title ${title}`)
  schemas[title] = schema
  return { $ref: PLACE + title }
}

/** Without a format, some generators take a float of 32 bits for a number, and an int of 32 bits for an integer. */
function precise({ anyOf, ...schema }: Schema, schemas: Schemas): Schema {
  const { pattern, format = formatOf(schema) } = schema
  return {
    ...schema,
    ...(typeof pattern === 'string' ? { pattern: portablePattern(pattern) } : {}),
    ...(format === undefined ? {} : { format }),
    ...(anyOf === undefined ? {} : unionOf(anyOf, schema.discriminator, schemas)),
  }
}

function formatOf({ type, maximum = Number.POSITIVE_INFINITY }: Schema): string | undefined {
  const types = [type].flat()
  if (types.includes('number')) return 'double'
  if (types.includes('integer')) return maximum <= MAX_INT ? 'int32' : 'int64'
  return undefined
}

function unionOf(anyOf: Ref[], discriminator: Schema['discriminator'], schemas: Schemas) {
  if (discriminator === undefined) return { anyOf }
  const { propertyName } = discriminator
  const mapping = Object.fromEntries(
    anyOf.flatMap(({ $ref }) => {
      const values = schemas[$ref.slice(PLACE.length)]?.properties?.[propertyName]?.enum ?? []
      return values.map(value => [value, $ref])
    }),
  )
  return { oneOf: anyOf, discriminator: { propertyName, mapping } }
}

/**
 * A pattern in the form that regular expressions of every language read: PHP and Go know no `\u`. Characters beyond
 * Latin-1 are left out: those of our patterns are blanks that are trimmed, so that without them a pattern allows a
 * little more.
 */
function portablePattern(pattern: string): string {
  return pattern
    .replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
    .replace(/\\u[0-9a-f]{4}(-\\u[0-9a-f]{4})?/g, '')
}
