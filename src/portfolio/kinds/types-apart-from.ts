import type { RowKind } from './kind.ts'
import { kindOf, kinds } from './kinds.ts'

export function typesApartFrom(type: string): string[] {
  const { buildsOn } = kindOf(kinds, type)
  const buildsOnIt = (kind: RowKind) => kind.buildsOn.includes(type)
  return [...buildsOn, ...kinds.filter(buildsOnIt).map(kind => kind.type)]
}
