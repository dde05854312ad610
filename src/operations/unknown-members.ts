import type { TObject } from '@sinclair/typebox'
import { isAlmost } from '../config/almost.ts'
import type { Data } from '../engine/operation.ts'
import { type FieldError, MAX_FIELD_ERRORS } from '../http/problem.ts'

type Body = { status: string; data: Data }

const ENVELOPE = ['status', 'data']
const MAX_NAME = 100

/**
 * Drops unknown members, except those that may be misspelt members of this operation, which would move other money
 * without them.
 */
export function dropUnknown<Sent extends Body>(sent: Sent, { properties }: TObject) {
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
export function withMeant(error: FieldError, { properties }: TObject): FieldError {
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
