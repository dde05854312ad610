import type { Body } from './body.ts'

/** A number or a boolean becomes its text; null, an array or an object counts as not sent. */
export function textAsSent(body: Body, name: string): string | undefined {
  const value = body[name]
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

export function textOf(body: Body, name: string): string | undefined {
  const text = textAsSent(body, name)
  return text === undefined || text.trim() === '' ? undefined : text
}

/** Texts as Fineract lists them among the changes. */
export function textsOf(body: Body, ...names: string[]): Record<string, string | undefined> {
  return Object.fromEntries(names.map(name => [name, textOf(body, name)]))
}

export function trueOf(body: Body, name: string): boolean {
  return textAsSent(body, name)?.toLowerCase() === 'true'
}

export function isSent(body: Body, name: string): boolean {
  return Object.hasOwn(body, name)
}
