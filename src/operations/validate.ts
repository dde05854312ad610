import createError from '@fastify/error'
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { isAlmost } from '../config/almost.ts'
import type { Config } from '../config/config.ts'
import type { Catalogue, Data, Operation } from '../engine/operation.ts'
import { closed, only } from '../http/fields/schemas.ts'
import { takeValues } from '../http/fields/take-values.ts'
import { type FieldError, FieldErrors, MAX_FIELD_ERRORS } from '../http/problem.ts'
import { firstPerPath } from '../http/validator.ts'
import { inPascalCase } from '../text/capitalised.ts'

type OperateRequest = { operation: Operation; data: Data; ignored: string[] | null }

export function operateBody(catalogue: Catalogue) {
  return Type.Union(
    [...catalogue.values()].map(({ name, summary, schema }) =>
      Type.Object(
        {
          status: Type.Literal(name),
          data: { ...schema, title: `${inPascalCase(name.toLowerCase())}Data` },
        },
        { ...closed, title: `${inPascalCase(name.toLowerCase())}Request`, description: summary },
      ),
    ),
    { title: 'OperateRequest', discriminator: { propertyName: 'status' } },
  )
}

/** Checks a body only against the operation that it names, so that every error is about that one. */
export function operateValidator(
  catalogue: Catalogue,
  unknownFields: Config['UNKNOWN_FIELDS'],
): (body: unknown) => OperateRequest {
  const names = [...catalogue.keys()].join(', ')
  const UnknownOperation = createError('UNKNOWN_OPERATION', `status must be one of ${names}`, 400)
  const checks = new Map(
    [...catalogue].map(([name, { schema }]) => [name, TypeCompiler.Compile(envelope(schema))]),
  )

  return sent => {
    const named = (sent as { status?: unknown } | null)?.status
    if (typeof named === 'string' && !catalogue.has(named)) throw new UnknownOperation()
    if (!shape.Check(sent)) throw refusal(closedShape.Errors(sent))
    const operation = catalogue.get(sent.status)
    const check = checks.get(sent.status)
    if (operation === undefined || check === undefined) throw new UnknownOperation()
    const { body, ignored } =
      unknownFields === 'ignore'
        ? dropUnknown(sent, operation.schema)
        : { body: sent, ignored: null }
    const data = takeValues(operation.schema, body.data) as Data
    const breaches = (operation.check?.(data) ?? []).map(({ path, message }) => ({
      path: `/data${path}`,
      message,
    }))
    const taken = { ...body, data }
    if (!check.Check(taken) || breaches.length > 0)
      throw refusal([...check.Errors(taken), ...breaches], operation.schema)
    return { operation, data, ignored }
  }
}

const refusal = (errors: Iterable<FieldError>, schema = only({})) =>
  new FieldErrors(
    'INVALID_PAYLOAD',
    firstPerPath(errors).map(error => withMeant(error, schema)),
  )

const Shape = Type.Object(
  {
    status: Type.String({ description: 'the name of an operation' }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'an object with the operation’s fields',
    }),
  },
  { description: 'an object with status and data' },
)
/** The shape is open, so that an unknown member is reported together with the errors in `data`. */
const shape = TypeCompiler.Compile(Shape)
const closedShape = TypeCompiler.Compile({ ...Shape, ...closed })

const envelope = (data: TSchema) => only({ status: Type.String(), data })

type Body = { status: string; data: Data }

const ENVELOPE = ['status', 'data']
const MAX_NAME = 100

/**
 * Drops unknown members, except those that may be misspelt members of this operation, which would move other money
 * without them.
 */
function dropUnknown<Sent extends Body>(sent: Sent, { properties }: TObject) {
  const members = Object.keys(properties)
  const ofData = Object.keys(sent.data).filter(
    name => !members.includes(name) && !members.some(member => isAlmost(name, member)),
  )
  const ofEnvelope = Object.keys(sent).filter(
    name =>
      !ENVELOPE.includes(name) && ![...ENVELOPE, ...members].some(member => isAlmost(name, member)),
  )
  const ignored = [...ofData.map(name => `data.${name}`), ...ofEnvelope]
  const isTooMuch = ignored.length > MAX_FIELD_ERRORS || ignored.some(one => one.length > MAX_NAME)
  if (ignored.length === 0 || isTooMuch) return { body: sent, ignored: null }
  const body = { ...without(sent, ofEnvelope), data: without(sent.data, ofData) }
  return { body: body as Body, ignored }
}

/** Names the member that a misspelt one, or one in the wrong place, may mean: it is refused even where others are dropped. */
function withMeant(error: FieldError, { properties }: TObject): FieldError {
  if (error.message !== 'is not a known field') return error
  const inData = Object.keys(properties).map(member => `/data/${member}`)
  const places = error.path.startsWith('/data/')
    ? inData
    : [...ENVELOPE.map(one => `/${one}`), ...inData]
  const name = nameAt(error.path)
  const meant = places.find(place => isAlmost(name, nameAt(place)))
  return meant === undefined
    ? error
    : { ...error, message: `${error.message}; ${meant} may be meant` }
}

const nameAt = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const without = (members: object, names: string[]): object =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
