import type { CsvFields } from './fields.ts'

/** Columns in which any text may be meant, whatever it looks like. */
const FREE_TEXTS = ['note', 'reason', 'remarks']
/** A column whose values are issued, as ids are, so a word such as `nil` is never one. People are called Nil and Na. */
const ISSUED = ['client_email_address']

/** Texts that people and programs write where they have no number or id, perhaps in brackets. */
const PLACEHOLDER =
  /^[[({<]?(\\n|n[./]?a\.?|nan|nil|none|null|undefined|unknown|missing|blank|empty|tb[acd]|not (available|applicable|known|assigned)|ditto|-?do-?|[+-]?0+([.,]0*)?|[-–—_"]+|[?*/]{1,2})[\])}>]?$/i
/** The longest one is `[not applicable]`; other values need no second look. */
const MAX_PLACEHOLDER_CHARACTERS = 16

/** What a program writes, in the language of its user, where it failed to write the value. */
const FAILED =
  /^(#[¡¿]?\p{Lu}[\p{Lu}/0]*[!?]|#(N\/?[ABDV]|I\/T|YOK|Н\/Д|GETTING_DATA)|#{3,}|Loading\.\.\.|Err:\d{3}|\[object \w+\])$/u
/** What a program writes where there is no value, written exactly so: people are called Null and Nan. */
const NO_VALUE = /^(NULL|nan|NaN|NaT|undefined|\\N|\(null\)|\[NULL\]|<NA>|\(blank\))$/
/** The formula that makes spreadsheets keep leading zeros. */
const TEXT_FORMULA = /^=\s*"[^"]*"$/
/** UTF-8 that was read as Windows-1252, such as `JosÃ©`; no word has such pairs. */
const GARBLED = /[\xc2\xc3][\x80-\x9f\xa1-\xbf]|\xe0[\xa4-\xb7][\x80-\xbf]|â€/
/**
 * Letters of MS-DOS or of an old Mac that were read as Windows-1252, such as `Jos‚` and `DÕSouza`: no word has such
 * characters there.
 */
const OTHER_MACHINES_LETTERS = /\p{L}[‚ƒ„†‡ˆ‰‹]|\p{Ll}[ŽŸÕ]|Õ\p{Lu}\p{Ll}|[\x80-\x9f]/u
/** Characters that replace those missing from the file's encoding, as in `D?Souza`. */
const LOST = /\ufffd|\?\?|\p{L}\?\p{Lu}\p{Ll}/u
/**
 * In people's names, any question mark beside a letter is such a character, as in `Jos?` and `Mu?oz`; and a sign there is a
 * letter of another machine, as in `Mu¤oz`, `M”ller` and `£ukasz`.
 */
const NAMES = ['client_firstname', 'client_lastname']
const LOST_IN_NAME = /\p{L}[?¡-¨¯¶¾¿€]|[?¡-¨¯¶¾¿€]\p{L}|\p{L}[“”•…™®›˜]\p{L}|\p{L}Ÿ\p{Ll}|µ/u
/** Hardly any cell is suspect, and one look at each is faster. */
const SUSPECT = /^(?:[#ENnu=\\([<]|Loading)|[\ufffd?\xc2\xc3\xe0â‚ƒ„†‡ˆ‰‹ŽŸÕ\x80-\x9f]/

/** Values that a spreadsheet or another program wrote in place of what it did not have. */
export function madeUpValues(fields: CsvFields): string[] {
  const errors: string[] = []
  for (const name in fields) {
    const cell = fields[name] as string
    const isLost = NAMES.includes(name) && LOST_IN_NAME.test(cell)
    const why = FREE_TEXTS.includes(name) ? undefined : isLost ? LOST_LETTERS : madeUp(cell)
    if (why !== undefined) errors.push(`${name} ${why}`)
  }
  for (const name of ISSUED) {
    const why = fields[name] === undefined ? undefined : placeholder(fields[name])
    if (why !== undefined) errors.push(`${name} ${why}`)
  }
  return errors
}

/** Two clients, loans or payments with the same placeholder would be taken for one. */
export function placeholder(cell: string): string | undefined {
  if (cell.length > MAX_PLACEHOLDER_CHARACTERS || !PLACEHOLDER.test(cell)) return undefined
  if (madeUp(cell) !== undefined) return undefined
  return noValue(cell)
}

const LOST_LETTERS = 'has lost letters: save the file as CSV UTF-8, or enter the value again'
const noValue = (cell: string) =>
  `is ${cell}, which stands for no value: enter the value, or leave the cell empty if its column is optional`

export function madeUp(cell: string): string | undefined {
  if (!SUSPECT.test(cell)) return undefined
  if (NO_VALUE.test(cell)) return noValue(cell)
  if (FAILED.test(cell))
    return `is ${cell}, which a program writes where it has no value: enter the value`
  if (TEXT_FORMULA.test(cell))
    return 'is a formula: enter the text in it, without the sign and the quotes'
  if ([LOST, GARBLED, OTHER_MACHINES_LETTERS].some(one => one.test(cell))) return LOST_LETTERS
  return undefined
}
