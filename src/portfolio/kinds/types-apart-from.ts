import type { RowKind } from './kind.ts'
import { kindOf, kinds } from './kinds.ts'

/** Those that this type depends on, and those that depend on it: on one loan, none may run at the same time. */
export function typesApartFrom(type: string): string[] {
  const { buildsOn } = kindOf(kinds, type)
  const buildsOnIt = (kind: RowKind) => kind.buildsOn.includes(type)
  return [...buildsOn, ...kinds.filter(buildsOnIt).map(kind => kind.type)]
}
