import { csvRecords } from './csv-records.ts'
import { delimiterOf } from './header.ts'
import { type BatchSize, type CsvReader, rowBatches } from './row-batches.ts'
import { UnreadableFile } from './unreadable-file.ts'

/**
 * Small, because a row of two bytes in the file becomes hundreds in memory, and a batch must not grow far
 * beyond its size.
 */
const BYTES_AT_ONCE = 8 * 1024
const MAX_HEADER_BYTES = 20_000

export async function readCsv(
  source: AsyncIterable<Buffer>,
  batchSize: BatchSize,
  reader: CsvReader,
): Promise<void> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await firstLine(chunks)
  const delimiter = delimiterOf(first.toString())
  const batches = rowBatches(batchSize, reader, delimiter)
  const records = csvRecords(delimiter, batches.add)
  try {
    for await (const piece of pieces(first, chunks)) {
      await records.write(piece)
      await batches.afterBytes(piece.length)
    }
    await records.end()
  } catch (error) {
    // The caller may clean up as soon as it gets the error, so no rows may be inserted after that.
    await batches.idle()
    throw records.explained(error)
  }
  await batches.end()
}

async function* pieces(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let chunk: Buffer | undefined = first; chunk; chunk = await nextOf(chunks)) {
    for (let at = 0; at < chunk.length; at += BYTES_AT_ONCE)
      yield chunk.subarray(at, at + BYTES_AT_ONCE)
  }
}

async function nextOf(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await chunks.next()
  return done ? undefined : value
}

async function firstLine(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const chunk = await nextOf(chunks)
    if (chunk === undefined) break
    bytes = Buffer.concat([bytes, chunk])
    if (/[\r\n]/.test(bytes.toString('utf8', 0, MAX_HEADER_BYTES).trimStart())) break
    if (bytes.length > MAX_HEADER_BYTES)
      throw new UnreadableFile('Line 1: the header does not end: is this a CSV file?')
  }
  if (bytes.toString().trim() === '') throw new UnreadableFile('The file is empty')
  return bytes
}
