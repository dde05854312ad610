/** A number as written: a double would lose digits of ids and decimals of amounts. */
type ExactNumber = { rawJSON: string }
type Reviver = (name: string, value: unknown, context: { source?: string }) => unknown
const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber }

export function parseExact(text: string): unknown {
  const reviver: Reviver = (_, value, { source }) =>
    typeof value === 'number' ? rawJSON(source as string) : value
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}

export function textOf(value: unknown): string | undefined {
  const isNumber = typeof value === 'object' && value !== null && 'rawJSON' in value
  const text = isNumber ? (value as ExactNumber).rawJSON : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value)
}
