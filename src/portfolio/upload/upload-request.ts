import type { Readable } from 'node:stream'
import type { Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { letTakeLong } from '../../http/client-error.ts'
import { FieldErrors, PayloadTooLarge } from '../../http/problem.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'

const MAX_FILE_BYTES = 1024 * 1024 * 1024
/** A caller that is silent for this long only blocks a connection. */
const SILENCE_MS = 30_000

/**
 * Reads the parts of an upload as they arrive: `type` first, then `file`, which is passed on while it arrives.
 * @throws FieldErrors, PayloadTooLarge
 */
export async function takeUpload<T>(
  request: FastifyRequest,
  kinds: Kinds,
  take: Take<T>,
): Promise<T> {
  return readingParts(request, parts => takeParts(parts, kinds, take))
}

/**
 * Reads an upload whose only part is `file`, which is passed on while it arrives.
 * @throws FieldErrors, PayloadTooLarge
 */
export async function takeFile<T>(
  request: FastifyRequest,
  take: (file: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  return readingParts(request, async parts => {
    const { value: part } = await parts.next()
    if (part === undefined) throw wrong('/file', 'is required')
    if (part.type === 'field' || part.fieldname !== 'file')
      throw wrong(`/${part.fieldname}`, 'is not a known field')
    return take(lastPart(part.file, parts))
  })
}

/**
 * Reads an upload whose fields of these names come before its `file`, as a form of a page sends them.
 * @throws FieldErrors, PayloadTooLarge
 */
export async function takeFileAfter<T>(
  request: FastifyRequest,
  names: string[],
  take: (fields: Record<string, string>, file: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  return readingParts(request, async parts => {
    const fields: Record<string, string> = {}
    for await (const part of parts) {
      if (part.type === 'file') return await take(fields, lastPart(part.file, parts))
      if (!names.includes(part.fieldname)) throw wrong(`/${part.fieldname}`, 'is not a known field')
      fields[part.fieldname] = String(part.value)
    }
    throw wrong('/file', 'is required')
  })
}

type Parts = AsyncGenerator<Multipart>

async function readingParts<T>(
  request: FastifyRequest,
  read: (parts: Parts) => Promise<T>,
): Promise<T> {
  if (!request.isMultipart())
    throw new FieldErrors('INVALID_PAYLOAD', [{ path: '', message: 'must be multipart/form-data' }])
  letTakeLong(request.raw, SILENCE_MS)
  try {
    // One more of each than allowed, so that the error can name it.
    const limits = { files: 2, fields: 2, fileSize: MAX_FILE_BYTES }
    return await read(legible(request.parts({ limits })))
  } finally {
    // A caller that is still sending would not read our answer, so the rest of the body is discarded.
    request.raw.unpipe()
    request.raw.resume()
  }
}

type Take<T> = (kind: ReadyKind, file: AsyncIterable<Buffer>) => Promise<T>

async function takeParts<T>(parts: Parts, kinds: Kinds, take: Take<T>): Promise<T> {
  let kind: ReadyKind | undefined
  for await (const part of parts) {
    if (part.type === 'field') {
      if (kind !== undefined) throw wrong(`/${part.fieldname}`, 'is one field too many')
      kind = kindOf(kinds, part.fieldname, part.value)
    } else {
      if (part.fieldname !== 'file') throw wrong(`/${part.fieldname}`, 'is not a known field')
      if (kind === undefined) throw wrong('/type', `is required before the file: ${typesOf(kinds)}`)
      return await take(kind, lastPart(part.file, parts))
    }
  }
  throw wrong('/file', 'is required')
}

/** Ends only if nothing follows the file, so that nothing is stored of an upload with more parts. */
async function* lastPart(
  file: Readable,
  parts: AsyncGenerator<{ fieldname: string }>,
): AsyncGenerator<Buffer> {
  yield* whole(file)
  const { done, value } = await parts.next()
  if (!done) throw wrong(`/${value.fieldname}`, 'comes after the file, which must be the last part')
}

function kindOf(kinds: Kinds, name: string, value: unknown): ReadyKind {
  if (name !== 'type') throw wrong(`/${name}`, 'is not a known field')
  const kind = typeof value === 'string' ? kinds.get(value) : undefined
  if (kind === undefined) throw wrong('/type', `must be ${typesOf(kinds)}`)
  return kind
}

const typesOf = (kinds: Kinds) => [...kinds.keys()].join(' or ')

const wrong = (path: string, message: string) =>
  new FieldErrors('INVALID_PAYLOAD', [{ path, message }])

/** The multipart reader silently truncates a file that is too large. */
async function* whole(file: Readable & { truncated?: boolean }): AsyncGenerator<Buffer> {
  yield* legible(file.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
  if (file.truncated) throw new PayloadTooLarge('The file is larger than 1 GiB')
}

/** The multipart reader's errors do not show that a malformed body is the caller's fault. */
async function* legible<T>(read: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* read
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== undefined) throw error
    throw wrong('', 'is malformed or incomplete multipart/form-data')
  }
}
