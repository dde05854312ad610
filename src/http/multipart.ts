import type { Readable } from 'node:stream'
import { fastifyMultipart, type Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { storableText } from '../database/storable.ts'
import { letTakeLong } from './client-error.ts'
import { invalidField, PayloadTooLarge } from './problem.ts'

/** A caller that is silent for this long only blocks a connection. */
const SILENCE_MS = 30_000
const MAX_NAME_CHARACTERS = 200

export const acceptFiles = fastifyPlugin(async app => {
  // If the plugin threw here, the caller would never receive our answer that the file is too large.
  await app.register(fastifyMultipart, { throwFileSizeLimit: false })
})

/** `text` is for the caller. */
export type FileLimit = { bytes: number; text: string }

export type Parts = AsyncGenerator<Multipart>

export async function readParts<T>(
  request: FastifyRequest,
  { bytes: fileSize }: FileLimit,
  read: (parts: Parts) => Promise<T>,
): Promise<T> {
  if (!request.isMultipart()) throw invalidField('', 'must be multipart/form-data')
  letTakeLong(request.raw, SILENCE_MS)
  try {
    // One more of each than allowed, so that the error can name it.
    const limits = { files: 2, fields: 2, fileSize }
    return await read(legible(request.parts({ limits })))
  } finally {
    // A caller that is still sending would not read our answer, so the rest of the body is discarded.
    request.raw.unpipe()
    request.raw.resume()
  }
}

export async function takeFile<T>(
  request: FastifyRequest,
  limit: FileLimit,
  take: (file: AsyncIterable<Buffer>, fileName: string | null) => Promise<T>,
): Promise<T> {
  return readParts(request, limit, async parts => {
    const { value: part } = await parts.next()
    if (part === undefined) throw wrongPart('file', 'is required')
    if (part.type === 'field' || part.fieldname !== 'file')
      throw wrongPart(part.fieldname, 'is not a known field')
    return take(lastPart(part.file, parts, limit), nameOf(part))
  })
}

export async function takeFileAfter<T>(
  request: FastifyRequest,
  names: string[],
  limit: FileLimit,
  take: (
    fields: Record<string, string>,
    file: AsyncIterable<Buffer>,
    fileName: string | null,
  ) => Promise<T>,
): Promise<T> {
  return readParts(request, limit, async parts => {
    const fields: Record<string, string> = {}
    for await (const part of parts) {
      if (part.type === 'file')
        return await take(fields, lastPart(part.file, parts, limit), nameOf(part))
      if (!names.includes(part.fieldname)) throw wrongPart(part.fieldname, 'is not a known field')
      fields[part.fieldname] = String(part.value)
    }
    throw wrongPart('file', 'is required')
  })
}

/** Ends only if nothing follows the file, so that nothing is stored of an upload with more parts. */
export async function* lastPart(
  file: Readable,
  parts: AsyncGenerator<{ fieldname: string }>,
  limit: FileLimit,
): AsyncGenerator<Buffer> {
  yield* whole(file, limit)
  const { done, value } = await parts.next()
  if (!done) throw wrongPart(value.fieldname, 'comes after the file, which must be the last part')
}

/** As a browser or a program names it, which may be anything. */
function nameOf({ filename }: { filename?: string }): string | null {
  return filename ? storableText(filename.slice(0, MAX_NAME_CHARACTERS)) : null
}

export const wrongPart = (name: string, message: string) => invalidField(`/${name}`, message)

/** The multipart reader silently truncates a file that is too large. */
async function* whole(
  file: Readable & { truncated?: boolean },
  { text }: FileLimit,
): AsyncGenerator<Buffer> {
  yield* legible(file.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
  if (file.truncated) throw new PayloadTooLarge(`The file is larger than ${text}`)
}

/** The multipart reader's errors do not show that a malformed body is the caller's fault. */
async function* legible<T>(read: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* read
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode !== undefined) throw error
    throw Object.assign(invalidField('', 'is malformed or incomplete multipart/form-data'), {
      cause: error,
    })
  }
}
