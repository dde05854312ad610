import { csvRecords } from './csv-records.ts'
import { delimiterOf, firstLineOf, isSeparatorLine } from './header.ts'
import { refuseOtherTexts } from './refuse-other-formats.ts'
import { type CsvReader, rowBatches } from './row-batches.ts'
import { UnreadableFile } from './unreadable-file.ts'

/**
 * Batches are small, because a row of two bytes in the file becomes hundreds in memory, and a batch must not grow far
 * beyond its size.
 */
const BYTES_AT_ONCE = 8 * 1024
const MAX_HEADER_BYTES = 20_000

export async function readCsv<Row>(source: AsyncIterable<Buffer>, reader: CsvReader<Row>) {
  const chunks = withoutEnd(source)[Symbol.asyncIterator]()
  const { bytes, line } = await firstLine(chunks)
  const delimiter = delimiterOf(line)
  const batches = rowBatches(reader, delimiter)
  const records = csvRecords(delimiter, { isBeforeHeader: isSeparatorLine(line) }, batches.add)
  let lastByte: number | undefined
  try {
    for await (const piece of pieces(bytes, chunks)) {
      lastByte = piece.at(-1)
      await records.write(piece)
      await batches.afterBytes(piece.length)
    }
    await records.end()
    await batches.end({ isUnended: lastByte !== LINE_FEED && lastByte !== CARRIAGE_RETURN })
  } catch (error) {
    // The caller may clean up as soon as it gets the error, so no rows may be inserted after that.
    await batches.idle()
    throw records.explained(error)
  }
}

/** Reads only the first row, and not the rest of the file. */
export async function readHeader(source: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks = withoutEnd(source)[Symbol.asyncIterator]()
  const { bytes, line } = await firstLine(chunks)
  let header: string[] = []
  const records = csvRecords(
    delimiterOf(line),
    { isBeforeHeader: isSeparatorLine(line) },
    ({ cells }) => {
      if (header.length === 0) header = cells
    },
  )
  // The service says what is wrong with later rows.
  await records.write(bytes).catch(() => undefined)
  return header
}

async function* pieces(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  for (let chunk: Buffer | undefined = first; chunk; chunk = await nextOf(chunks)) {
    for (let at = 0; at < chunk.length; at += BYTES_AT_ONCE)
      yield chunk.subarray(at, at + BYTES_AT_ONCE)
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Old programs end a file with this character, and some fill its last block. */
const CTRL_Z = 0x1a
const MAX_CTRL_Z = 128

async function* withoutEnd(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let heldBack: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    const bytes = heldBack.length === 0 ? chunk : Buffer.concat([heldBack, chunk])
    let end = bytes.length
    while (end > 0 && bytes[end - 1] === CTRL_Z && bytes.length - end < MAX_CTRL_Z) end--
    heldBack = Buffer.from(bytes.subarray(end))
    if (end > 0) yield bytes.subarray(0, end)
  }
}

async function nextOf(chunks: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await chunks.next()
  return done ? undefined : value
}

async function firstLine(chunks: AsyncIterator<Buffer>) {
  let bytes = Buffer.alloc(0)
  for (;;) {
    const chunk = await nextOf(chunks)
    if (chunk !== undefined) bytes = Buffer.concat([bytes, chunk])
    const text = bytes.toString('utf8', 0, MAX_HEADER_BYTES)
    const line = firstLineOf(chunk === undefined ? `${text}\n` : text)
    if (line === undefined && chunk !== undefined && bytes.length <= MAX_HEADER_BYTES) continue
    refuseOtherTexts(text)
    if (line !== undefined) return { bytes, line: line.trimStart() }
    throw new UnreadableFile(
      chunk === undefined
        ? 'The file is empty'
        : 'Line 1: the header does not end: is this a CSV file?',
    )
  }
}
