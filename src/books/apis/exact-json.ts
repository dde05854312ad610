/** A number as written: a double would lose digits of ids and decimals of amounts. */
type ExactNumber = { rawJSON: string }
type Reviver = (name: string, value: unknown, context: { source?: string }) => unknown
const { rawJSON } = JSON as unknown as { rawJSON(text: string): ExactNumber }

/** Numbers keep every digit, and `JSON.stringify` writes them unchanged. */
export function parseExact(text: string): unknown {
  const reviver: Reviver = (_, value, { source }) =>
    typeof value === 'number' ? rawJSON(source as string) : value
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}

/** A string or a number as text; undefined for anything else, and for an empty text. */
export function textOf(value: unknown): string | undefined {
  const isNumber = typeof value === 'object' && value !== null && 'rawJSON' in value
  const text = isNumber ? (value as ExactNumber).rawJSON : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

/** The member at a path such as `payment_details.cf_payment_id`. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value)
}
