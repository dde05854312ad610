import type { Kind } from '../kinds/kind.ts'
import { csvLine } from './csv-line.ts'

/** A header row and one example. */
export function template({ columns }: Kind): string {
  return [
    csvLine(columns.map(({ name }) => name)),
    csvLine(columns.map(({ example }) => example)),
  ].join('')
}

/** The columns one by one, for the documentation. */
export function describeColumns({ type, columns }: Kind): string {
  const lines = columns.map(
    ({ name, isRequired, description, example }) =>
      `- \`${name}\`${isRequired ? ' (required)' : ''}: ${description}. Example: \`${example}\``,
  )
  return [`Columns of ${type}, in any order:`, '', ...lines].join('\n')
}
