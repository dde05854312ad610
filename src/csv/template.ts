import { asCsv } from './as-csv.ts'
import type { FileKind } from './column.ts'

export function template({ columns }: Pick<FileKind, 'columns'>): string {
  return asCsv([columns.map(({ name }) => name), columns.map(({ example }) => example)])
}

export function describeColumns({ type, columns }: FileKind): string {
  const lines = columns.map(
    ({ name, isRequired, description, example }) =>
      `- \`${name}\`${isRequired ? ' (required)' : ''}: ${description}. Example: \`${example}\``,
  )
  return [`Columns of ${type}, in any order:`, '', ...lines].join('\n')
}
