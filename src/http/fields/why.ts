/** A schema's own sentence about a value that it refuses: what is wrong with this one, not the whole rule. */
export const WHY = Symbol('why')
export type Why = (value: unknown) => string | undefined

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
}
const NAMES: Record<string, string> = {
  '\0': 'NUL',
  '\t': 'a tab',
  '\n': 'a line break',
  '\r': 'a line break',
  ' ': 'a blank',
}

export function kindOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return KINDS[typeof value] ?? 'an object'
}

type TextRule = { min?: number; max: number; allowed: RegExp }

/** @param allowed matches each character that the text may have */
export const whyText =
  ({ min = 1, max, allowed }: TextRule): Why =>
  value => {
    if (typeof value !== 'string') return `must be a text, not ${kindOfValue(value)}`
    if (value === '') return 'must not be empty'
    if (value.length < min) return `has ${value.length} characters, but needs at least ${min}`
    if (value.length > max) return `has ${value.length} characters, but at most ${max} are allowed`
    return strangeIn(value, allowed)
  }

/** @returns the first character that is not allowed, and where it is */
export function strangeIn(text: string, allowed: RegExp): string | undefined {
  const at = [...text].findIndex(one => !allowed.test(one))
  return at === -1 ? undefined : `contains ${shown([...text][at] as string)} as character ${at + 1}`
}

function shown(character: string): string {
  const point = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  const name = NAMES[character] ?? (/[\p{C}\p{Z}]/u.test(character) ? 'the character' : character)
  return `${name} (U+${point})`
}
