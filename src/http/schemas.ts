import { Kind, type Static, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import { DefaultErrorFunction, SetErrorFunction, ValueErrorType } from '@sinclair/typebox/errors'
import { TRIMMED } from './trim-texts.ts'
import { WHY, type Why } from './why.ts'

TypeRegistry.Set('OneOf', (schema: { enum: unknown[] }, value) => schema.enum.includes(value))

// A refusal says what is wrong with the value, or what would be valid in the words of the schema's description.
SetErrorFunction(error => {
  if (error.errorType === ValueErrorType.ObjectRequiredProperty) return 'is required'
  if (error.errorType === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field'
  const why = (error.schema as { [WHY]?: Why })[WHY]?.(error.value)
  if (why !== undefined) return why
  const { description } = error.schema
  return description === undefined ? DefaultErrorFunction(error) : `must be ${description}`
})

/** Not a union, whose branches would be tried one by one, for each value and each answer. */
export const oneOf = <T extends string>(
  names: readonly T[],
  description = `one of ${names.join(', ')}`,
) =>
  Type.Unsafe<T>({
    [Kind]: 'OneOf',
    [TRIMMED]: true,
    type: 'string',
    enum: [...names],
    description,
  })

export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

export const NullableText = nullable(Type.String())

export const closed = { additionalProperties: false }
