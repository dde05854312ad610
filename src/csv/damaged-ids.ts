import { inAscii } from '../text/in-ascii.ts'
import type { CsvFields } from './fields.ts'
import { placeholder } from './made-up-values.ts'

type IdColumns = {
  /** Columns with the ids of gateways and banks: ids, UTRs and references. */
  ids?: string[]
  /** Columns with the ids that gateways gave to payments. */
  paymentIds?: string[]
  /** Columns with references that the lender may have made up, such as the month of an instalment. */
  ownIds?: string[]
  /** Columns with telephone numbers, in which people write blanks. */
  telephones?: string[]
  /** Columns with the callers' own ids of loans and clients, in which a dot or a comma may be meant. */
  externalIds?: string[]
}

type Damage = { of(cell: string): boolean; what: string; remedy?: string }

/** Nearly all ids are such, and looking for each damage takes ten times as long. */
const SOUND = /^([A-Za-z_](?![a-z]{2,3}-\d\d$)[A-Za-z0-9_.:/-]*|\+?\d{1,17})$/
const SOUND_PAYMENT = /^(pay_[A-Za-z0-9]+|\d{1,17})$/
export const REMEDY =
  'format the column as text in the spreadsheet, and enter the value as it was issued'

/** A spreadsheet always writes a sign, so a plain `1E5` may well be an id. */
const SHORTENED = /^[+-]?((\d+[.,]\d*|[.,]\d+)[eE][+-]?|\d+[eE][+-])\d+$/
/** Characters that copying between programs leaves behind: spaces, quotes and invisible ones. */
const AROUND = /[\s\p{Cf}'"‘’]/gu
const APOSTROPHE = /^['`´‘’ʼ]+\s*\d/
/** A number with commas, with at least two dots or with apostrophes, and perhaps with decimals. */
const GROUPED = /^[+-]?(\d+(,\d*)+(\.\d*)?|\d{1,3}(\.\d{3}){2,}(,\d*)?|\d{1,3}(['’]\d{3})+)$/
/** Spreadsheets keep 15 digits of a number. Of genuine ids, one in a thousand or fewer have only zeros after them. */
const ROUNDED = /^[1-9]\d{14}0{3,}$/
/** One in ten or in a hundred genuine ids ends so, and so do times with three digits for the milliseconds. */
const PERHAPS_ROUNDED = /^[1-9]\d{14}0{1,2}$/
const LONG = /^\d{16,}$/
/** `1.5` may be a reference; no number that was whole has another fraction. */
const DECIMAL = /^[+-]?\d+\.0*$/
/** Quotes: programs that correct what is typed make curly ones, programs that quote in their own way straight ones. */
const QUOTED = /^["'`´“”„‘’‚«‹].*["'`´“”‘’»›]$/
const SPACED = /^[+-]?\d+(\s+\d+)+$/
const ASCII = /^[\x20-\x7e]+$/
const BLANKS = /[\s\p{Cf}]/gu
/** A character that looks like a blank, or like nothing, but makes another id of the text. */
const INVISIBLE = /(?! )[\s\p{Cf}]/u

/** Gateways issue letters and digits, perhaps with something between them. */
const NOT_ISSUED = /[^A-Za-z0-9_ .-]|[^.]\.$/
/** An id of another thing, from the column beside that of the payments, or what a spreadsheet makes of a tick. */
const NO_PAYMENT = /^((order|rfnd|setl|plink|inv|cust|sub)_[A-Za-z0-9]+|true|false)$/i
const SEVERAL = /\bpay_.*pay_/i
const ISO_DATE = /^\d{4}-\d\d-\d\d\b(?!-)/

const shortened: Damage = {
  of: cell => SHORTENED.test(plain(cell).replace(AROUND, '')),
  what: 'is in scientific notation, which loses digits',
}
const rounded: Damage = {
  of: cell => ROUNDED.test(cell),
  what: 'has only zeros after the 15 digits that a spreadsheet keeps',
}
/** What a spreadsheet makes of 12-3, MAR1 and 3-26. */
const MONTH = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec'
const DATE = new RegExp(`^(\\d{1,2}-(${MONTH})(-\\d\\d)?|(${MONTH})-\\d\\d)$`)
const dated: Damage = { of: cell => DATE.test(cell), what: 'is a date' }
const marked: Damage = { of: cell => APOSTROPHE.test(cell), what: 'begins with an apostrophe' }
const asNumber: Damage[] = [
  marked,
  { of: cell => GROUPED.test(bare(cell)), what: 'has separators between its digits' },
  { of: cell => DECIMAL.test(bare(cell)), what: 'has a decimal point' },
]
const spaced: Damage[] = [
  { of: cell => QUOTED.test(cell), what: 'is in quotes' },
  { of: cell => SPACED.test(plain(cell)), what: 'has blanks between its digits' },
  { of: hasInvisible, what: 'contains an invisible character' },
]
const respelled: Damage = {
  of: cell => !ASCII.test(cell) && ASCII.test(inAscii(cell)),
  what: 'has full-width characters or dashes in place of ordinary ones',
}
const mixed: Damage = {
  of: cell => /\p{Script=Latin}/u.test(cell) && /\p{Script=Cyrillic}|\p{Script=Greek}/u.test(cell),
  what: 'has letters of another alphabet that look like Latin ones',
}
const remedy = 'enter the one id that the gateway gave the payment'
const notIssued: Damage[] = [
  { of: cell => SEVERAL.test(cell), what: 'has more than one payment’s id', remedy },
  { of: cell => ISO_DATE.test(cell), what: 'is a date', remedy },
  { of: cell => NO_PAYMENT.test(cell), what: 'is not of the form of a payment’s id', remedy },
  {
    of: cell => NOT_ISSUED.test(cell),
    what: 'has characters that the gateways’ payment ids lack',
    remedy,
  },
]

const ids = [shortened, rounded, dated, ...asNumber, ...spaced, respelled, mixed]
const DAMAGES: Record<keyof IdColumns, Damage[]> = {
  externalIds: [shortened, rounded, marked],
  telephones: [shortened, dated, ...asNumber],
  ownIds: [shortened, rounded, ...asNumber, ...spaced],
  ids,
  paymentIds: [...ids, ...notIssued],
}

/**
 * The errors of ids that a spreadsheet damaged, and of words in place of ids. Under a damaged id, a payment that is already
 * booked would be booked again.
 */
export function damagedIds(fields: CsvFields, columns: IdColumns): string[] {
  const errors: string[] = []
  for (const kind of ['externalIds', 'ownIds', 'telephones', 'ids', 'paymentIds'] as const)
    for (const name of columns[kind] ?? []) {
      const cell = fields[name] ?? ''
      const damage = cell === '' ? undefined : (placeholder(cell) ?? damageOf(cell, kind))
      if (damage !== undefined) errors.push(`${name} ${damage}`)
    }
  return errors
}

/**
 * The damage to the id, with the remedy; undefined for an id that is as it was issued.
 * @param isSingle whether somebody entered it alone: then only zeros at its end are no sign of a spreadsheet
 */
export function damageOf(id: string, kind: keyof IdColumns, isSingle = false): string | undefined {
  const sound = kind === 'paymentIds' ? SOUND_PAYMENT : SOUND
  const damage = sound.test(id)
    ? undefined
    : DAMAGES[kind].find(one => !(isSingle && one === rounded) && one.of(id))
  return damage && `${damage.what}: ${damage.remedy ?? REMEDY}`
}

/** Whether the id ends as a spreadsheet would leave it, if it did not end so from the beginning. */
export const mayBeRounded = (id: string | undefined) => id !== undefined && PERHAPS_ROUNDED.test(id)

/** @param evidence the reason to think so of an id that may be rounded */
export const roundedBy = (evidence: string) =>
  `ends in 0, which a spreadsheet writes after the 15th digit, and ${evidence}: ${REMEDY}, or upload an id that was issued so in a file of its own`

/** The rows with one id that may be rounded: more of them would fill the memory. */
const MAX_HELD_BACK = 1_000

/**
 * Judges the ids of a file's columns, batch by batch, by all ids so far. Rows with the only id of a column that may be
 * rounded are held back until another id shows whether it is.
 * @returns the rows that are judged, with the errors of their ids
 */
export function roundedIds<Row extends { fields: CsvFields }>(names: string[]) {
  const columns = names.map(name => ({ name, rounded: new Set<string>(), isKept: false }))
  let held: Row[] = []
  return (rows: Row[], isLast: boolean) => {
    for (const column of columns) for (const { fields } of rows) note(column, fields[column.name])
    const open = columns.filter(({ rounded, isKept }) => !isKept && rounded.size === 1)
    const suspect = columns.filter(({ rounded, isKept }) => !isKept && rounded.size > 1)
    const all = [...held, ...rows]
    held = isLast ? [] : all.filter(({ fields }) => mayBeRoundedIn(open, fields))
    if (held.length > MAX_HELD_BACK) held = []
    const judged = held.length === 0 ? all : all.filter(row => !held.includes(row))
    return judged.map(row => ({
      ...row,
      rounded: suspect
        .filter(({ name }) => mayBeRounded(row.fields[name]))
        .map(({ name }) => `${name} ${roundedBy('so do all in this column')}`),
    }))
  }
}

const mayBeRoundedIn = (columns: { name: string }[], fields: CsvFields) =>
  columns.some(({ name }) => mayBeRounded(fields[name]))

/** A single id that was not rounded shows that the spreadsheet kept the column as text. */
function note(column: { rounded: Set<string>; isKept: boolean }, id = '') {
  if (column.isKept || !LONG.test(id)) return
  column.isKept = !ROUNDED.test(id) && !mayBeRounded(id)
  if (column.rounded.size < 2) column.rounded.add(id)
}

/** Turns full-width characters and other blanks into ordinary ones. */
const plain = (cell: string) => cell.normalize('NFKC')
const bare = (cell: string) => plain(cell).replace(BLANKS, '')

/** In other scripts, such characters belong to the words. */
function hasInvisible(cell: string): boolean {
  return INVISIBLE.test(cell) && ASCII.test(cell.replace(BLANKS, ''))
}
