type Members = Record<string, unknown>

/** The document for generators that do not know 3.1, which has no place for callbacks. */
export function asOpenApi30(document: object): object {
  const { webhooks: _, info, ...rest } = document as { webhooks: object; info: Members }
  const { identifier: __, ...license } = info.license as Members
  return { ...(inOld(rest) as object), openapi: '3.0.3', info: { ...info, license } }
}

function inOld(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOld)
  if (typeof value !== 'object' || value === null) return value
  const members: Members = {}
  for (const [name, member] of Object.entries(withoutDaysPattern(value)))
    Object.assign(members, asOld(name, member))
  return members
}

/** Generators read a day as a date, and openapi-generator's PHP, Ruby and C# then cannot match it against a pattern. */
function withoutDaysPattern(value: object): object {
  if (!('format' in value && value.format === 'date')) return value
  const { pattern: _, ...rest } = value as Members
  return rest
}

function asOld(name: string, member: unknown): Members {
  if (name === 'type' && Array.isArray(member))
    return { type: member.find(one => one !== 'null'), nullable: true }
  if (name === 'pattern' && typeof member === 'string') return { pattern: inAsciiAlone(member) }
  // `nullable` says that null is allowed, and some generators make a constant of a null here.
  if (name === 'enum' && Array.isArray(member)) return { enum: member.filter(one => one !== null) }
  if (name === 'exclusiveMinimum' && typeof member === 'number')
    return { minimum: member, exclusiveMinimum: true }
  // Unless it is a file, openapi-generator's Java client reads a CSV as JSON. Python's could not read it as a file.
  if (name === 'text/csv') return { [name]: { schema: { type: 'string', format: 'binary' } } }
  if (name === 'examples' && Array.isArray(member)) return { example: member[0] }
  return { [name]: name === 'example' || name === 'examples' ? member : inOld(member) }
}

/**
 * Ruby refuses to load a pattern with such an escape beyond ASCII. Ours are blanks that are trimmed, so that without them a
 * pattern allows a little more.
 */
const inAsciiAlone = (pattern: string): string =>
  pattern.replace(/\\x[89a-f][0-9a-f]/g, '').replaceAll('[ ]*', String.raw`\s*`)
