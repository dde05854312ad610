import { NAMED_DAYS } from '../../day.ts'
import { PERSONAL_MEMBERS } from '../../operations/personal-members.ts'

const IDS = /id$/i
/** Ids, codes, days and how days are written stay as they are, even where a name is the same text. */
const KEPT = /(id|code|date|locale|format)$/i
const REMOVED = '[removed]'
/** A shorter value, such as a two-letter name, is replaced only where it is no part of an id or a code. */
const SHORTEST_VALUE = 3
/** It begins where its text does, so that each character of a long text is looked at once. */
const E_MAIL = /(?<![^\s@'"<>()])[^\s@'"<>()]+@[^\s@'"<>()]{1,255}/g
const SPECIAL = /[\\^$.*+?()[\]{}|]/g

type Clean = (text: string) => string

/** @param data the operation's data: its personal values are replaced wherever a text repeats them */
export function withoutPersonalData<T>(value: T, data: object): T {
  const textsOf = (members: RegExp) =>
    Object.entries(data)
      .filter(([name, one]) => members.test(name) && typeof one === 'string')
      .map(([, one]) => (one as string).trim())
      .filter(one => one.length >= SHORTEST_VALUE || /^\p{L}+$/u.test(one))
  const values = new Set(textsOf(PERSONAL_MEMBERS))
  if (values.size === 0) return cleaned(value, withoutAddresses) as T
  // The longest text comes first: one may contain another, as an id contains a name.
  const texts = [...values, ...textsOf(IDS)].sort((a, b) => b.length - a.length)
  const pattern = new RegExp([...texts.map(wholeWord), NAMED_DAYS].join('|'), 'gu')
  const clean: Clean = text =>
    withoutAddresses(text.replace(pattern, found => (values.has(found) ? REMOVED : found)))
  return cleaned(value, clean) as T
}

const withoutAddresses: Clean = text => text.replaceAll(E_MAIL, REMOVED)

/** In "invalid", "ali" is no name. */
function wholeWord(text: string): string {
  const partOfWord =
    text.length < SHORTEST_VALUE ? String.raw`[\p{L}\p{M}\p{N}_.-]` : String.raw`[\p{L}\p{M}\p{N}_]`
  return `(?<!${partOfWord})${text.replace(SPECIAL, '\\$&')}(?!${partOfWord})`
}

function cleaned(value: unknown, clean: Clean): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map(one => cleaned(one, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !PERSONAL_MEMBERS.test(name))
      .map(([name, one]) => [
        name,
        typeof one === 'string' && KEPT.test(name) ? one : cleaned(one, clean),
      ]),
  )
}
