import type { Kind } from '../kinds/kind.ts'
import { csvLine } from './csv-line.ts'

export function template({ columns }: Pick<Kind, 'columns'>): string {
  return [
    csvLine(columns.map(({ name }) => name)),
    csvLine(columns.map(({ example }) => example)),
  ].join('')
}

/** A list of the columns for the API documentation. */
export function describeColumns({ type, columns }: Pick<Kind, 'type' | 'columns'>): string {
  const lines = columns.map(
    ({ name, isRequired, description, example }) =>
      `- \`${name}\`${isRequired ? ' (required)' : ''}: ${description}. Example: \`${example}\``,
  )
  return [`Columns of ${type}, in any order:`, '', ...lines].join('\n')
}
