import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { fastifyMultipart, type Multipart, type MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { storableText } from '../../text/storable.ts'
import { trimmed } from '../../text/trimmed.ts'
import { letTakeLong } from '../client-error.ts'
import { invalidField, PayloadTooLarge } from '../problem.ts'
import { bodyIsCheckedLater } from '../validator.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What tells two forms with files apart, once one has been read to its end. */
    sentContent: string | null
  }
}

/** A caller that is silent for this long only blocks a connection. */
const SILENCE_MS = 30_000
const MAX_NAME_CHARACTERS = 200
/** Control characters, and characters that turn the direction of the text around them. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

export const acceptFiles = fastifyPlugin(async app => {
  // If the plugin threw here, the caller would never receive our answer that the file is too large.
  await app.register(fastifyMultipart, { throwFileSizeLimit: false })
  app.decorateRequest('sentContent', null)
  // The body is read part by part as it arrives, so there is nothing of it to validate before the handler.
  app.addHook('onRoute', route => {
    if (route.schema?.consumes?.includes('multipart/form-data'))
      route.validatorCompiler = bodyIsCheckedLater
  })
})

/** Only with a file's name is a part a file; with curl, a `<` in place of the `@` leaves it out. */
const NO_FILE = 'must be sent as a file, with its filename: with curl, -F file=@name.csv'
/** Python's `files=` gives each of its parts a filename. */
const NO_FIELD =
  'must be sent as a field, without a filename: in Python, in data= instead of files='
/** Who sets the header by hand sends no boundary, which only the program that writes the form knows. */
const NO_BOUNDARY =
  'has no boundary in its content-type: leave this header to the program that writes the form'

/** `text` is for the caller. */
export type FileLimit = { bytes: number; text: string }

type Parts = AsyncGenerator<Multipart>

/** The bytes can be read once, as they arrive. */
export type UploadedFile = {
  name: string | null
  bytes: AsyncIterable<Buffer>
  /** The hash of the bytes, in hexadecimal, once all of them have been read. */
  sha256(): string
}

const MAX_FIELDS = 10
/** How much of a file may wait in memory for fields that some generated clients send after it: 256 MiB over all uploads. */
const MAX_AHEAD_BYTES = 4 * 1024 ** 2

/** Reads a form with a file, and only tells its `sentContent`. */
export async function discardFile(request: FastifyRequest): Promise<void> {
  const noLimit = { bytes: Number.POSITIVE_INFINITY, text: '' }
  await takeFile(request, 'any', noLimit, async ({ bytes }) => {
    for await (const _ of bytes);
  })
}

/** @param names of the fields that come before the file, or after a small one, each at most once */
export async function takeFile<T>(
  request: FastifyRequest,
  names: string[] | 'any',
  limit: FileLimit,
  take: (file: UploadedFile, fields: Record<string, string>) => Promise<T>,
): Promise<T> {
  return readParts(request, names, limit, async parts => {
    const fields: Record<string, string> = {}
    const part = await nextFile(parts, names, fields)
    if (part === undefined) throw wrongPart('file', 'is required')
    // A refused form is shown with its fields again.
    request.body = fields
    const chunks = whole(part.file, limit)
    const isComplete = names === 'any' || names.every(name => name in fields)
    const { ahead, isWhole } = await readAhead(chunks, isComplete ? 0 : MAX_AHEAD_BYTES)
    if (isWhole) refuseAnother(await nextFile(parts, names, fields))
    const file = openFile(part, parts, joined(ahead, chunks))
    const taken = await take(file, fields)
    request.sentContent = JSON.stringify([fields, file.sha256()])
    return taken
  })
}

/** Adds to `fields` those that come before the next file, if there is one. */
async function nextFile(parts: Parts, names: string[] | 'any', fields: Record<string, string>) {
  for (;;) {
    const { done, value: part } = await parts.next()
    if (done) return undefined
    const { fieldname: name } = part
    const isField = names === 'any' || names.includes(name)
    const isKnown = part.type === 'file' ? name === 'file' : isField
    if (name === 'file' && part.type !== 'file') throw wrongPart(name, NO_FILE)
    if (!isKnown) throw wrongPart(name, isField ? NO_FIELD : 'is not a known field')
    if (part.type === 'file') return part
    if (name in fields) throw wrongPart(name, 'is one field too many')
    fields[name] = String(part.value)
  }
}

/** @returns about this many bytes from the beginning of the file, and whether that is all */
async function readAhead(chunks: AsyncGenerator<Buffer>, most: number) {
  const ahead: Buffer[] = []
  for (let bytes = 0; bytes < most; bytes += ahead.at(-1)?.length ?? 0) {
    const { done, value } = await chunks.next()
    if (done) return { ahead, isWhole: true }
    ahead.push(value)
  }
  return { ahead, isWhole: false }
}

async function* joined(ahead: Buffer[], chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* ahead
  yield* chunks
}

async function readParts<T>(
  request: FastifyRequest,
  names: string[] | 'any',
  { bytes: fileSize }: FileLimit,
  read: (parts: Parts) => Promise<T>,
): Promise<T> {
  if (!request.isMultipart()) throw invalidField('', 'must be multipart/form-data')
  letTakeLong(request.raw, SILENCE_MS)
  try {
    // Each limit is one more than allowed, so the error can name it.
    const fields = names === 'any' ? MAX_FIELDS : names.length + 1
    const limits = { files: 2, fields, fileSize }
    return await read(legible(request.parts({ limits })))
  } finally {
    // A caller that is still sending would not read our answer, so the rest of the body is discarded.
    request.raw.unpipe()
    request.raw.resume()
  }
}

function openFile(part: MultipartFile, parts: Parts, chunks: AsyncGenerator<Buffer>): UploadedFile {
  const hash = createHash('sha256')
  return {
    name: nameOf(part),
    bytes: bytesOf(chunks, parts, hash),
    sha256: () => hash.copy().digest('hex'),
  }
}

/** The file's bytes, which end only if nothing follows the file, so that nothing is stored of an upload with more parts. */
async function* bytesOf(chunks: AsyncGenerator<Buffer>, parts: Parts, hash: Hash) {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  const { value } = await parts.next()
  refuseAnother(value)
}

function refuseAnother(part: Multipart | undefined): void {
  if (part !== undefined)
    throw wrongPart(part.fieldname, 'comes after the file, which must be the last part')
}

/** The file's name, as a browser or a program gives it, which may be anything. */
function nameOf({ filename = '' }: { filename?: string }): string | null {
  const shown = trimmed(storableText(filename.replace(UNSEEN, '')))
  return trimmed([...shown].slice(0, MAX_NAME_CHARACTERS).join('')) || null
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
    const hasNoBoundary = (error as Error).message === 'Multipart: Boundary not found'
    const message = hasNoBoundary ? NO_BOUNDARY : 'is malformed or incomplete multipart/form-data'
    throw Object.assign(invalidField('', message), { cause: error })
  }
}
