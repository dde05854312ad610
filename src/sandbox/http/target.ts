import { containerError } from './refusal.ts'

export interface Target<T> {
  id: number
  find(): T
  rest: string[]
}

export function idIn(first: string, rest: string[]): number {
  if (rest.length > 0 || !/^\d{1,18}$/.test(first)) throw containerError(404)
  return Number(first)
}

/** Like Fineract, resolves …/external-id/{x} at once, and …/{number} only when the command runs. */
export function targetIn<T extends { id: number }>(
  path: string[],
  byExternalId: (externalId: string) => T,
  byId: (id: number) => T,
): Target<T> {
  const [first = '', second] = path
  if (first === 'external-id' && second !== undefined) {
    const { id } = byExternalId(second)
    return { id, find: () => byId(id), rest: path.slice(2) }
  }
  if (!/^\d{1,18}$/.test(first)) throw containerError(404)
  const id = Number(first)
  return { id, find: () => byId(id), rest: path.slice(1) }
}
