import { isAscii, isUtf8 } from 'node:buffer'
import { refuseOtherFormats, SIGNATURE_BYTES } from './refuse-other-formats.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** The marks that files in UTF-16 begin with. With two more bytes of zero, the first mark is that of UTF-32. */
const UTF16_MARKS = [
  { starts: /^fffe(?!0000)/, name: 'utf-16le' },
  { starts: /^feff/, name: 'utf-16be' },
]
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SAVE_AS = 'save it as CSV UTF-8'
/** The beginning of a character is all that an end within it leaves. */
const CUT_OFF = ', or has been cut off: upload the whole file, or'
/** A non-ASCII character of UTF-8, read as Latin-1. Such pairs exist in Windows-1252 too, but in no word or name. */
const UTF8_CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/

/** @throws UnreadableFile if the file is no text, or not in one encoding */
export async function* decode(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  let start: Buffer = Buffer.alloc(0)
  while (start.length < SIGNATURE_BYTES) {
    const { done, value } = await chunks.next()
    if (done) break
    start = Buffer.concat([start, value])
  }
  const first = start.toString('hex', 0, 4)
  const utf16 = UTF16_MARKS.find(({ starts }) => starts.test(first))
  if (utf16 === undefined) refuseOtherFormats(start)
  const all = withStart(start, chunks)
  yield* utf16 === undefined ? decodeBytes(all) : decodeUtf16(all, utf16.name)
}

async function* withStart(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

async function* decodeUtf16(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(name, { fatal: true })
  try {
    for await (const chunk of source) yield Buffer.from(decoder.decode(chunk, { stream: true }))
    decoder.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const message = `The file is UTF-16 with a character that does not exist${CUT_OFF} ${SAVE_AS}`
    throw Object.assign(new UnreadableFile(message), { cause: error })
  }
}

/** If the first non-ASCII character is not valid UTF-8, the file is read as Windows-1252, as Excel writes it. */
async function* decodeBytes(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let encoding: 'unknown' | 'utf-8' | 'windows-1252' = 'unknown'
  let rest: Buffer = Buffer.alloc(0)
  let lineEnd: number | undefined
  let lines = 1
  let charactersOfLine = 0
  const windows1252 = new TextDecoder('windows-1252')

  for await (const chunk of source) {
    yield* decoded(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), false)
  }
  if (rest.length > 0) yield* decoded(rest, true)

  function* decoded(bytes: Buffer, isEnd: boolean): Generator<Buffer> {
    const end = isEnd ? bytes.length : endOfCharacters(bytes)
    const whole = bytes.subarray(0, end)
    rest = bytes.subarray(end)
    if (encoding === 'unknown' && !isAscii(whole))
      encoding = isUtf8(firstCharacter(whole)) ? 'utf-8' : 'windows-1252'
    const strange = encoding === 'windows-1252' ? utf8In(whole) : brokenIn(whole)
    if (strange !== -1) throw new UnreadableFile(mixed(whole.subarray(0, strange), isEnd))
    count(whole)
    if (encoding === 'windows-1252') yield Buffer.from(windows1252.decode(whole))
    else if (whole.length > 0) yield whole
  }

  function count(bytes: Buffer) {
    lineEnd ??= lineEndIn(bytes)
    const end = lineEnd ?? LINE_FEED
    let start = 0
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, start)) {
      start = at + 1
      lines++
    }
    const characters = bytes.toString(encoding === 'windows-1252' ? 'latin1' : 'utf8', start).length
    charactersOfLine = start === 0 ? charactersOfLine + characters : characters
  }

  function mixed(before: Buffer, isEnd: boolean): string {
    count(before)
    const was =
      encoding === 'windows-1252'
        ? 'Windows-1252 up to here, and UTF-8 from here'
        : 'UTF-8 up to here, and another encoding from here'
    return `Line ${lines}, character ${charactersOfLine + 1}: the file is ${was}${isEnd ? CUT_OFF : ':'} ${SAVE_AS}`
  }
}

/** Old Macs end their lines with a carriage return alone. */
function lineEndIn(bytes: Buffer): number | undefined {
  const at = bytes.findIndex(byte => byte === LINE_FEED || byte === CARRIAGE_RETURN)
  return bytes[at + 1] === LINE_FEED ? LINE_FEED : bytes[at]
}

function brokenIn(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1
  for (let at = 0; ; ) {
    const length = characterLength(bytes[at] as number)
    if (!isUtf8(bytes.subarray(at, at + length))) return at
    at += length
  }
}

const utf8In = (bytes: Buffer): number =>
  isAscii(bytes) ? -1 : bytes.toString('latin1').search(UTF8_CHARACTER)

function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      return characterLength(byte) > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** The first character, in the length that it has in UTF-8: what follows may be in another encoding. */
function firstCharacter(bytes: Buffer): Buffer {
  const at = bytes.findIndex(byte => byte >= 0x80)
  return bytes.subarray(at, at + characterLength(bytes[at] as number))
}

const characterLength = (byte: number) =>
  byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
