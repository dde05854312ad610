import { csvRecords } from './csv-records.ts'
import { delimiterOf } from './header.ts'
import { type BatchSize, type CsvReader, rowBatches } from './row-batches.ts'
import { UnreadableFile } from './unreadable-file.ts'

const MAX_HEADER_BYTES = 20_000

/**
 * Reads a CSV file, a chunk at a time.
 * @throws UnreadableFile that names line and column, once no rows are being taken
 */
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
    for (let chunk: Buffer | undefined = first; chunk; chunk = await nextOf(chunks)) {
      await records.write(chunk)
      await batches.afterBytes(chunk.length)
    }
    await records.end()
  } catch (error) {
    // Who hears of the failure may clear up at once: nothing may be kept behind their back.
    await batches.settle()
    throw records.explained(error)
  }
  await batches.end()
}

async function nextOf(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await chunks.next()
  return done ? undefined : value
}

/** At least the first line, in one piece. @throws UnreadableFile */
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
