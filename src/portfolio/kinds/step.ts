import { TypeCompiler } from '@sinclair/typebox/compiler'
import { DAY_RULE, dayOf } from '../../csv/day-cell.ts'
import type { CsvFields } from '../../csv/fields.ts'
import { type NumberReading, numberIn } from '../../csv/number-cell.ts'
import { newOperation } from '../../engine/accept.ts'
import type { Data, Operation } from '../../engine/operation.ts'
import { firstPerPath } from '../../http/validator.ts'

type Reading = 'text' | 'day' | NumberReading
export type FieldOf = { column: string; field: string; as: Reading }

export type Step = ReturnType<typeof step>

export function step(operation: Operation, mapping: FieldOf[]) {
  const compiled = TypeCompiler.Compile(operation.schema)
  const columnOf = new Map(mapping.map(({ field, column }) => [`/${field}`, column]))
  const days = new Set(mapping.filter(({ as }) => as === 'day').map(({ field }) => `/${field}`))

  return {
    check(fields: CsvFields): string[] {
      const data = read(fields)
      if (!compiled.Check(data)) return errorsOf(data)
      return (operation.check?.(data) ?? []).map(
        ({ path, message }) => `${columnOf.get(path)} ${withColumns(message)}`,
      )
    },
    make: (fields: CsvFields) => newOperation(operation, read(fields), null),
  }

  function read(fields: CsvFields): Data {
    const data: Data = {}
    for (const { column, field, as } of mapping) {
      const cell = fields[column]
      if (cell !== undefined) data[field] = READ[as](cell)
    }
    return data
  }

  function errorsOf(data: Data): string[] {
    return firstPerPath(compiled.Errors(data)).map(({ path, message }) => {
      const rule = days.has(path) && message !== 'is required' ? DAY_RULE : message
      return `${columnOf.get(path)} ${rule}`
    })
  }

  /** Rules across fields mention the operation's fields, but the reader of the message knows only columns. */
  function withColumns(message: string): string {
    return mapping.reduce((text, { field, column }) => text.replaceAll(field, column), message)
  }
}

const READ: Record<Reading, (cell: string) => unknown> = {
  text: cell => cell,
  whole: cell => numberIn(cell, 'whole'),
  amount: cell => numberIn(cell, 'amount'),
  rate: cell => numberIn(cell, 'rate'),
  day: cell => dayOf(cell)?.text ?? cell,
}
