import { domainRule } from './refusal.ts'

/** What Fineract takes for an attempt at SQL injection in the value of a query. */
const ATTACKS: [name: string, pattern: RegExp][] = [
  ['inject-comment', /[\t\n\r]/],
  ['inject-blind', /\b(or|and)\s+(['"]?)\w+\2\s*(=|<|>)\s*(['"]?)\w+/i],
]

export function refuseAttack(value: string): void {
  const attack = ATTACKS.find(([, pattern]) => pattern.test(value))?.[0]
  if (attack === undefined) return
  const message = `SQL validation error: invalid SQL statement (detected '${attack}' pattern)`
  throw domainRule('error.msg.sql.validation', message)
}

/** The pattern as LIKE reads it: % and _ are wildcards, and a backslash takes the next sign as it is. */
export function likePattern(value: string): RegExp {
  const parts = value.matchAll(/\\(.)|%|_|(.)/gsu)
  const source = Array.from(parts, ([whole, escaped, plain]) => {
    if (whole === '%') return '.*'
    return whole === '_' ? '.' : literally(escaped ?? plain ?? '')
  })
  return new RegExp(`^${source.join('')}$`, 'su')
}

const literally = (sign: string): string => `\\u{${sign.codePointAt(0)?.toString(16)}}`

export function pageOf<T>(found: T[], query: URLSearchParams): T[] {
  const offset = Number(query.get('offset') ?? 0)
  return found.slice(offset, offset + Number(query.get('limit') ?? 200))
}
