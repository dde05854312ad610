import { kindOf, kinds } from './kinds.ts'

/** How many kinds have to run before this one. */
export function rankOf(type: string): number {
  return Math.max(0, ...kindOf(kinds, type).buildsOn.map(before => rankOf(before) + 1))
}
