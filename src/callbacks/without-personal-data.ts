/** Members of the ledger's answers, and of operations' data, that hold names, numbers, addresses or notes. */
const PERSONAL =
  /^(first|last|middle|full|display|client|user)_?name$|^name$|mobile|phone|e_?mail|^note$|^address/i
/** Ids and codes stay as they are, even where a name is the same text. */
const KEPT = /(id|code)$/i
const REMOVED = '[removed]'
/** Shorter values, such as a one-letter name, would also remove parts of ids and codes. */
const SHORTEST_VALUE = 3

/**
 * A copy of a JSON value without personal data: its members are left out, and the values of `data`'s are replaced
 * wherever a text repeats them, as the ledger's error messages do.
 * @param data of the operation that the value answers
 */
export function withoutPersonalData<T>(value: T, data: object): T {
  const values = Object.entries(data)
    .filter(([name, one]) => PERSONAL.test(name) && typeof one === 'string')
    .map(([, one]) => (one as string).trim())
    .filter(one => one.length >= SHORTEST_VALUE)
    // The longest first: one may contain another.
    .sort((a, b) => b.length - a.length)
  return cleaned(value, values) as T
}

function cleaned(value: unknown, values: string[]): unknown {
  if (typeof value === 'string')
    return values.reduce((text, one) => text.replaceAll(one, REMOVED), value)
  if (Array.isArray(value)) return value.map(one => cleaned(one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !PERSONAL.test(name))
      .map(([name, one]) => [
        name,
        typeof one === 'string' && KEPT.test(name) ? one : cleaned(one, values),
      ]),
  )
}
