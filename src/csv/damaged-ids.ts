import type { CsvFields } from './fields.ts'

type IdColumns = {
  /** Columns with the ids of gateways and banks: ids, UTRs and references. */
  ids?: string[]
  /** Columns with telephone numbers, in which people write blanks. */
  telephones?: string[]
  /** Columns with the callers' own ids of loans and clients, in which a dot or a comma may be meant. */
  externalIds?: string[]
}

type Damage = { of(cell: string): boolean; what: string }

/** Nearly all ids are such, and looking for each damage takes ten times as long. */
const SOUND = /^([A-Za-z_][A-Za-z0-9_.:/-]*|\+?\d+)$/
const REMEDY = 'format the column as text in the spreadsheet, and enter the value as it was issued'

/** A spreadsheet always writes a sign, so a plain `1E5` may well be an id. */
const SHORTENED = /^[+-]?((\d+[.,]\d*|[.,]\d+)[eE][+-]?|\d+[eE][+-])\d+$/
/** Characters that copying between programs leaves behind: spaces, quotes and invisible ones. */
const AROUND = /[\s\p{Cf}'"‘’]/gu
const APOSTROPHE = /^['`´‘’ʼ]+\s*\d/
/** A number with commas, with at least two dots or with apostrophes, and perhaps with decimals. */
const GROUPED = /^[+-]?(\d+(,\d*)+(\.\d*)?|\d{1,3}(\.\d{3}){2,}(,\d*)?|\d{1,3}(['’]\d{3})+)$/
/** `1.5` may be a reference; no number that was whole has another fraction. */
const DECIMAL = /^[+-]?\d+\.0*$/
/** Quotes: programs that correct what is typed make curly ones, programs that quote in their own way straight ones. */
const QUOTED = /^["'`´“”„‘’‚«‹].*["'`´“”‘’»›]$/
const SPACED = /^[+-]?\d+(\s+\d+)+$/
const ASCII = /^[\x20-\x7e]+$/
const BLANKS = /[\s\p{Cf}]/gu
/** A character that looks like a blank, or like nothing, but makes another id of the text. */
const INVISIBLE = /(?! )[\s\p{Cf}]/u

const shortened: Damage = {
  of: cell => SHORTENED.test(plain(cell).replace(AROUND, '')),
  what: 'is in scientific notation, which loses digits',
}
const asNumber: Damage[] = [
  { of: cell => APOSTROPHE.test(cell), what: 'begins with an apostrophe' },
  { of: cell => GROUPED.test(bare(cell)), what: 'has separators between its digits' },
  { of: cell => DECIMAL.test(bare(cell)), what: 'has a decimal point' },
]
const spaced: Damage[] = [
  { of: cell => QUOTED.test(cell), what: 'is in quotes' },
  { of: cell => SPACED.test(plain(cell)), what: 'has blanks between its digits' },
  { of: hasInvisible, what: 'contains an invisible character' },
]

const DAMAGES: Record<keyof IdColumns, Damage[]> = {
  externalIds: [shortened],
  telephones: [shortened, ...asNumber],
  ids: [shortened, ...asNumber, ...spaced],
}

/** The errors of ids that a spreadsheet damaged. Under a damaged id, a payment that is already booked would be booked again. */
export function damagedIds(fields: CsvFields, columns: IdColumns): string[] {
  const errors: string[] = []
  for (const kind of ['externalIds', 'telephones', 'ids'] as const)
    for (const name of columns[kind] ?? []) {
      const damage = damageOf(fields[name] ?? '', kind)
      if (damage !== undefined) errors.push(`${name} ${damage}`)
    }
  return errors
}

/** The damage to the id, with the remedy; undefined for an id that is as it was issued. */
export function damageOf(id: string, kind: keyof IdColumns): string | undefined {
  const damage = SOUND.test(id) ? undefined : DAMAGES[kind].find(({ of }) => of(id))
  return damage && `${damage.what}: ${REMEDY}`
}

/** Turns full-width characters and other blanks into ordinary ones. */
const plain = (cell: string) => cell.normalize('NFKC')
const bare = (cell: string) => plain(cell).replace(BLANKS, '')

/** In other scripts, such characters belong to the words. */
function hasInvisible(cell: string): boolean {
  return INVISIBLE.test(cell) && ASCII.test(cell.replace(BLANKS, ''))
}
