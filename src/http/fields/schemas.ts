import {
  Kind,
  type Static,
  type TProperties,
  type TSchema,
  Type,
  TypeRegistry,
} from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { DefaultErrorFunction, SetErrorFunction, ValueErrorType } from '@sinclair/typebox/errors'
import { BLANK } from '../../text/trimmed.ts'
import { MAY_BE_EMPTY, TAKE, trimText } from './take-values.ts'
import { kindOfValue, WHY, type Why } from './why.ts'

TypeRegistry.Set('OneOf', (schema: { enum: unknown[] }, value) => schema.enum.includes(value))

// A refusal says what is wrong with the value, or what would be valid in the words of the schema's description.
SetErrorFunction(error => {
  if (error.errorType === ValueErrorType.ObjectRequiredProperty) return 'is required'
  if (error.errorType === ValueErrorType.ObjectAdditionalProperties) return 'is not a known field'
  if (error.errorType === ValueErrorType.Object)
    return `must be an object, not ${kindOfValue(error.value)}`
  const why = (error.schema as { [WHY]?: Why })[WHY]?.(error.value)
  if (why !== undefined) return why
  const { description } = error.schema
  if (description !== undefined) return `must be ${description}`
  return whyUndescribed[error.errorType]?.(error) ?? DefaultErrorFunction(error)
})

type RefusedText = { value: unknown; schema: TSchema }
/** The library's own words are for programmers: they count the other way round, and quote the pattern. */
const whyUndescribed: Record<number, (error: RefusedText) => string> = {
  [ValueErrorType.StringMinLength]: () => 'must not be empty',
  [ValueErrorType.StringMaxLength]: ({ value, schema }) =>
    `has ${String(value).length} characters, but at most ${schema.maxLength} are allowed`,
  [ValueErrorType.StringPattern]: () => 'has a character that is not allowed',
}

/** One of several texts. A union's branches would be tried one by one, for each value and each answer. */
export const oneOf = <T extends string>(
  names: readonly T[],
  description = `one of ${names.join(', ')}`,
) =>
  Type.Unsafe<T>({
    [Kind]: 'OneOf',
    [TAKE]: trimText,
    type: 'string',
    enum: [...names],
    description,
  })

export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

const CHECK = Symbol('check')
type Checked = { [CHECK]: TypeCheck<TSchema> }
TypeRegistry.Set('OrNull', (schema: Checked, value) => schema[CHECK].Check(value))

/** An optional member of a body. `null` in it counts as absent (`takeValues`), so that only the contract has it. */
export const optional = <T extends TSchema>(schema: T) =>
  Type.Optional(
    Type.Unsafe<Static<T>>({
      ...schema,
      [Kind]: 'OrNull',
      [CHECK]: TypeCompiler.Compile(schema),
      type: [schema.type, 'null'],
      ...(schema.enum ? { enum: [...schema.enum, null] } : {}),
    }),
  )

/** An optional member in which an empty text counts as absent too. */
export const optionalText = <T extends TSchema>(schema: T) =>
  optional({
    ...schema,
    [MAY_BE_EMPTY]: true,
    ...(schema.minLength ? { minLength: 0 } : {}),
    ...(schema.pattern ? { pattern: `^[${BLANK}]*$|${schema.pattern}` } : {}),
    ...(schema.enum ? { enum: [...schema.enum, ''] } : {}),
  })

/** A member of an update, where an empty text could be meant to clear what is there. */
export const change = <T extends TSchema>(schema: T) => {
  const { [WHY]: why } = schema as { [WHY]?: Why }
  const whyNot: Why = value => (value === '' ? CANNOT_BE_CLEARED : why?.(value))
  return optional({ ...schema, [WHY]: whyNot })
}
const CANNOT_BE_CLEARED = 'is empty, but cannot be cleared this way; without it, it stays as it is'

export const NullableText = nullable(Type.String())

export const nullableText = (description: string) => nullable(Type.String({ description }))

export const closed = { additionalProperties: false }

/** These members and no others. */
export const only = <P extends TProperties>(members: P) => Type.Object(members, closed)

/** An object with a name in the contract. */
export const titled = <P extends TProperties>(title: string, members: P) =>
  Type.Object(members, { title })

/** The same for a body, which has no other members. */
export const titledBody = <P extends TProperties>(title: string, members: P) =>
  Type.Object(members, { ...closed, title })

/** The body of an update, which names at least one member besides the id. */
export const updateOf = <Id extends TSchema, Of extends TProperties>(externalId: Id, of: Of) =>
  Type.Object(
    { externalId, ...of },
    {
      ...closed,
      minProperties: 2,
      description: `an object with externalId and at least one of ${Object.keys(of).join(', ')}`,
    },
  )
