/**
 * Blanks of every script, and characters that are not seen: zero-width ones, marks of direction and a soft hyphen,
 * but no control characters. The text is for regular expressions of any language.
 */
export const BLANK =
  ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000' +
  '\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff'

const IS_BLANK = new RegExp(`[\\s${BLANK}]`)
const JOINERS = '\u200c\u200d'
const IS_MARK = /\p{M}/u

/** A text without what people and programs leave at its ends without meaning it. */
export function trimmed(text: string): string {
  const inner = text.trim()
  if (hasAsciiEnds(inner)) return inner
  let start = 0
  let end = inner.length
  while (start < end && isBlank(inner, start)) start++
  while (end > start && isBlank(inner, end - 1) && !isOfLetter(inner, end - 1)) end--
  return inner.slice(start, end)
}

const isBlank = (text: string, at: number) => IS_BLANK.test(text[at] ?? '')

/** After a mark, as the virama of Devanagari is, a joiner belongs to the last letter of a name. */
const isOfLetter = (text: string, at: number) =>
  JOINERS.includes(text[at] ?? '') && IS_MARK.test(text[at - 1] ?? '')

/** Most texts have ASCII at both ends: looking at these alone takes a tenth of the time. */
const hasAsciiEnds = (text: string) =>
  !(text.charCodeAt(0) > 0x7f || text.charCodeAt(text.length - 1) > 0x7f)
