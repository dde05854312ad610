import { containerError } from './refusal.ts'

export interface Target<T> {
  find(): T
  rest: string[]
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
    return { find: () => byId(id), rest: path.slice(2) }
  }
  if (!/^\d{1,18}$/.test(first)) throw containerError(404)
  return { find: () => byId(Number(first)), rest: path.slice(1) }
}
