import type { FastifyRequest } from 'fastify'
import { type FileLimit, lastPart, type Parts, readParts, wrongPart } from '../../http/multipart.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'

export const UPLOAD_LIMIT: FileLimit = { bytes: 1024 ** 3, text: '1 GiB' }

type Take<T> = (kind: ReadyKind, file: AsyncIterable<Buffer>) => Promise<T>

/** @throws FieldErrors, PayloadTooLarge */
export async function takeUpload<T>(
  request: FastifyRequest,
  kinds: Kinds,
  take: Take<T>,
): Promise<T> {
  return readParts(request, UPLOAD_LIMIT, parts => takeParts(parts, kinds, take))
}

async function takeParts<T>(parts: Parts, kinds: Kinds, take: Take<T>): Promise<T> {
  let kind: ReadyKind | undefined
  for await (const part of parts) {
    if (part.type === 'field') {
      if (kind !== undefined) throw wrongPart(part.fieldname, 'is one field too many')
      kind = kindOf(kinds, part.fieldname, part.value)
    } else {
      if (part.fieldname !== 'file') throw wrongPart(part.fieldname, 'is not a known field')
      if (kind === undefined)
        throw wrongPart('type', `is required before the file: ${typesOf(kinds)}`)
      return await take(kind, lastPart(part.file, parts, UPLOAD_LIMIT))
    }
  }
  throw wrongPart('file', 'is required')
}

function kindOf(kinds: Kinds, name: string, value: unknown): ReadyKind {
  if (name !== 'type') throw wrongPart(name, 'is not a known field')
  const kind = typeof value === 'string' ? kinds.get(value) : undefined
  if (kind === undefined) throw wrongPart('type', `must be ${typesOf(kinds)}`)
  return kind
}

const typesOf = (kinds: Kinds) => [...kinds.keys()].join(' or ')
