import type { TObject } from '@sinclair/typebox'
import type { Data } from '../engine/operation.ts'
import { MAX_FIELD_ERRORS } from '../http/problem.ts'

type Body = { status: string; data: Data }

const ENVELOPE = ['status', 'data']
const MAX_NAME = 100
/** From so many letters on, two typing errors are likelier than another word. */
const LONG_NAME = 8

/** Leaves those that may be misspelt members of this operation, which would move other money without them. */
export function dropUnknown<Sent extends Body>(sent: Sent, { properties }: TObject) {
  const members = Object.keys(properties)
  const ofData = Object.keys(sent.data).filter(
    name => !members.includes(name) && !isAlmost(name, members),
  )
  const ofEnvelope = Object.keys(sent).filter(
    name => !ENVELOPE.includes(name) && !isAlmost(name, [...ENVELOPE, ...members]),
  )
  const ignored = [...ofData.map(name => `data.${name}`), ...ofEnvelope]
  const isTooMuch = ignored.length > MAX_FIELD_ERRORS || ignored.some(one => one.length > MAX_NAME)
  if (ignored.length === 0 || isTooMuch) return { body: sent, ignored: null }
  const body = { ...without(sent, ofEnvelope), data: without(sent.data, ofData) }
  return { body: body as Body, ignored }
}

function without(members: object, names: string[]): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

function isAlmost(name: string, members: string[]): boolean {
  if (name.length > MAX_NAME) return false
  return members.some(
    member =>
      distance(name.toLowerCase(), member.toLowerCase()) <= (member.length < LONG_NAME ? 1 : 2),
  )
}

/** Levenshtein's: how many letters must be inserted, removed or replaced. */
function distance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const here = [row + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (above[column] as number) + (letter === to[column] ? 0 : 1)
      const moved = 1 + Math.min(above[column + 1] as number, here[column] as number)
      here.push(Math.min(replaced, moved))
    }
    above = here
  }
  return above.at(-1) as number
}
