import { kindOf, kinds } from './kinds.ts'

export function rankOf(type: string): number {
  return Math.max(0, ...kindOf(kinds, type).buildsOn.map(before => rankOf(before) + 1))
}
