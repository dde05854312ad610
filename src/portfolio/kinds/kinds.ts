import type { FileType } from '../../csv/reading/file-type.ts'
import { Unavailable } from '../../database/unavailable.ts'
import type { Catalogue } from '../../engine/operation.ts'
import type { RowKind, RowReader } from './kind.ts'
import { loans } from './loans/loans.ts'
import { repayments } from './repayments/repayments.ts'

export const kinds: RowKind[] = [loans, repayments]

/** The types of portfolios, by which uploads of other files recognise them. */
export const portfolioTypes = (remedy: (type: string) => string): FileType[] =>
  kinds.map(({ type, isHeader }) => ({
    title: `a file of ${type}`,
    remedy: remedy(type),
    isHeader,
  }))

export type ReadyKind = RowKind & RowReader
export type Kinds = ReadonlyMap<string, ReadyKind>

export function migrationKinds(catalogue: Catalogue): Kinds {
  return new Map(kinds.map(kind => [kind.type, { ...kind, ...kind.reader(catalogue) }]))
}

export function rowKindOf<K extends RowKind>(known: Iterable<K>, type: string): K {
  const kind = [...known].find(one => one.type === type)
  if (kind === undefined) throw new Unavailable(`this version does not know the type ${type}`)
  return kind
}

/** Lower for a type that others build on: its files go first. */
export function rankOf(type: string): number {
  return Math.max(0, ...rowKindOf(kinds, type).buildsOn.map(before => rankOf(before) + 1))
}

export function typesApartFrom(type: string): string[] {
  const buildOnIt = kinds.filter(kind => kind.buildsOn.includes(type))
  return [...rowKindOf(kinds, type).buildsOn, ...buildOnIt.map(kind => kind.type)]
}
