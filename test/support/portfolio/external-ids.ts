/** The external ids that a LOS may make of a name of letters and digits: one of each kind, two of them alike but for their case. */
export const EXTERNAL_IDS: readonly ((name: string) => string)[] = [
  name => name,
  name => `LN/2026/${name}`,
  name => `Id-${name}`,
  name => `iD-${name}`,
  name => `${name} of  our own`,
  name => `#${name}@|()[]{}"'<>&+=?,*!$~:^\``,
  name => `${name}\\;%_%2F`,
  name => `../${name}`,
  name => `..${name}`,
  name => `ऋण-${name} 😀`,
  name => String.fromCodePoint(FIRST_IDEOGRAPH + (Number.parseInt(name, 36) % IDEOGRAPHS)),
  name => name.padEnd(100, 'ऋ'),
]
const FIRST_IDEOGRAPH = 0x4e00
const IDEOGRAPHS = 20_000

/** Consecutive numbers make ids of all kinds. */
export function externalId(prefix: string, number: number): string {
  const kind = EXTERNAL_IDS[number % EXTERNAL_IDS.length] as (name: string) => string
  return kind(`${prefix}${Math.floor(number / EXTERNAL_IDS.length)}`)
}
