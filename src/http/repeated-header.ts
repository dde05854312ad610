import type { FastifyRequest } from 'fastify'
import { FieldErrors } from './problem.ts'

/** A hook that takes equal copies of a header as one. A retry may add it to the one that is there; Node, or a proxy, joins both. */
export const takeOnce = (name: string) => async (request: FastifyRequest) => {
  // Node joins copies with a comma; it parses all headers once more to keep them apart.
  if (!request.raw.headers[name]?.includes(',')) return
  const all = (request.raw.headersDistinct[name] ?? []).flatMap(partsOf)
  if (all.length < 2) return
  const errors = [{ path: `/${name}`, message: 'is sent more than once, with different values' }]
  if (new Set(all).size > 1) throw new FieldErrors('INVALID_HEADER', errors, 'header')
  request.raw.headers[name] = all[0]
}

function partsOf(value: string): string[] {
  const parts = value.split(/, ?/)
  return new Set(parts).size === 1 ? parts : [value]
}
