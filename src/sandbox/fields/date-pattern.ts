import { dateOfParts } from '../calendar.ts'

type Parser = (text: string) => string | undefined

const parsers = new Map<string, Parser | undefined>()

/**
 * Reads days as java.time does: lenient about the number of digits and about case, strict about days that exist.
 * @returns undefined if the pattern is invalid
 */
export function dateParser(pattern: string, locale: string): Parser | undefined {
  const name = `${locale} ${pattern}`
  if (!parsers.has(name)) parsers.set(name, compile(pattern, locale))
  return parsers.get(name)
}

function compile(pattern: string, locale: string): Parser | undefined {
  const months = monthNames(locale)
  const tokens = pattern.match(/'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+/g) ?? []
  if (tokens.join('') !== pattern) return undefined
  const parts = tokens.map((token, i) => {
    if (!/^[A-Za-z]/.test(token)) return literal(token.replaceAll("'", ''))
    const joined = isNumeric(tokens[i + 1]) || isNumeric(tokens[i - 1])
    return field(token, joined, months)
  })
  if (parts.includes(undefined)) return undefined
  const expression = new RegExp(`^${parts.join('')}(?: \\d{1,2}:\\d{2}:\\d{2})?$`, 'iu')
  return text => read(expression.exec(text)?.groups, months)
}

function field(token: string, joined: boolean, months: string[][]): string | undefined {
  const digits = joined ? `\\d{${token.length}}` : '\\d{1,10}'
  if (/^[yu]+$/.test(token)) return token.length === 2 ? '(?<short>\\d{2})' : `(?<y>${digits})`
  if (/^[ML]{1,2}$/.test(token)) return `(?<m>${digits})`
  if (/^[ML]{3,4}$/.test(token)) return `(?:${months.map(named).join('|')}|(?<m>\\d{1,2}))`
  if (/^d{1,2}$/.test(token)) return `(?<d>${digits})`
  return /^(H{1,2}|m{1,2}|s{1,2})$/.test(token) ? '\\d{1,2}' : undefined
}

const named = (names: string[], month: number): string =>
  `(?<m${month + 1}>${names.map(literal).join('|')})`

function read(groups: Record<string, string> | undefined, months: string[][]): string | undefined {
  if (!groups) return undefined
  const byName = months.findIndex((_, i) => groups[`m${i + 1}`] !== undefined) + 1
  const year = groups.short === undefined ? Number(groups.y) : 2000 + Number(groups.short)
  return dateOfParts(year, byName || Number(groups.m), Number(groups.d))
}

/** Long names first, or a short one would match the beginning of its long form. */
function monthNames(locale: string): string[][] {
  const tag = locale.replaceAll('_', '-')
  return Array.from({ length: 12 }, (_, month) =>
    (['long', 'short'] as const).map(style =>
      new Intl.DateTimeFormat(tag, { month: style, timeZone: 'UTC' }).format(Date.UTC(2024, month)),
    ),
  )
}

const isNumeric = (token: string | undefined): boolean =>
  token !== undefined && /^(?:[yud]+|[ML]{1,2})$/.test(token)

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
