import { PERSONAL_MEMBERS } from '../../operations/personal-members.ts'

/** Ids and codes stay as they are, even where a name is the same text. */
const KEPT = /(id|code)$/i
const REMOVED = '[removed]'
/** A shorter value, such as a two-letter name, is replaced only where it is a whole word, outside ids and codes. */
const SHORTEST_VALUE = 3
const E_MAIL = /[^\s@'"<>()]{1,64}@[^\s@'"<>()]{1,255}/g

/** @param data the operation's data: its personal values are replaced wherever a text repeats them */
export function withoutPersonalData<T>(value: T, data: object): T {
  const values = Object.entries(data)
    .filter(([name, one]) => PERSONAL_MEMBERS.test(name) && typeof one === 'string')
    .map(([, one]) => (one as string).trim())
    .filter(one => one.length >= SHORTEST_VALUE || /^\p{L}+$/u.test(one))
    // The longest value comes first: one may contain another.
    .sort((a, b) => b.length - a.length)
    .map(patternOf)
  return cleaned(value, [E_MAIL, ...values]) as T
}

/** A short value consists of letters, which need no escaping. */
function patternOf(value: string): string | RegExp {
  if (value.length >= SHORTEST_VALUE) return value
  const partOfWord = String.raw`[\p{L}\p{M}\p{N}_.-]`
  return new RegExp(`(?<!${partOfWord})${value}(?!${partOfWord})`, 'gu')
}

function cleaned(value: unknown, values: (string | RegExp)[]): unknown {
  if (typeof value === 'string')
    return values.reduce<string>((text, one) => text.replaceAll(one, REMOVED), value)
  if (Array.isArray(value)) return value.map(one => cleaned(one, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !PERSONAL_MEMBERS.test(name))
      .map(([name, one]) => [
        name,
        typeof one === 'string' && KEPT.test(name) ? one : cleaned(one, values),
      ]),
  )
}
