import { isAscii, isUtf8 } from 'node:buffer'
import { UnreadableFile } from './unreadable-file.ts'

const UTF16_BOMS = ['fffe', 'feff']
const LINE_FEED = 10
const SAVE_AS = 'save it as CSV UTF-8'
/** UTF-8's letters beyond ASCII, read as Latin-1. Windows-1252 has such pairs too, but no word or name is spelt with one. */
const UTF8_LETTER =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/

/**
 * The bytes as UTF-8, whatever they came in. A file whose first letters beyond ASCII are no UTF-8 is taken for
 * Windows-1252, as Excel saves it.
 * @throws UnreadableFile
 */
export async function* decode(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let encoding: 'unknown' | 'utf-8' | 'windows-1252' = 'unknown'
  let rest: Buffer = Buffer.alloc(0)
  let lines = 1
  let lettersOfLine = 0
  let isFirst = true
  const windows1252 = new TextDecoder('windows-1252')

  for await (const chunk of source) {
    if (isFirst && UTF16_BOMS.includes(chunk.subarray(0, 2).toString('hex')))
      throw new UnreadableFile(`The file is UTF-16: ${SAVE_AS}`)
    isFirst = false
    yield* decoded(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), false)
  }
  if (rest.length > 0) yield* decoded(rest, true)

  function* decoded(bytes: Buffer, isEnd: boolean): Generator<Buffer> {
    const end = isEnd ? bytes.length : endOfLetters(bytes)
    const whole = bytes.subarray(0, end)
    rest = bytes.subarray(end)
    if (encoding === 'unknown' && !isAscii(whole))
      encoding = isUtf8(firstLetter(whole)) ? 'utf-8' : 'windows-1252'
    const strange = encoding === 'windows-1252' ? utf8In(whole) : brokenIn(whole)
    if (strange !== -1) throw new UnreadableFile(mixed(whole.subarray(0, strange)))
    count(whole)
    if (encoding === 'windows-1252') yield Buffer.from(windows1252.decode(whole))
    else if (whole.length > 0) yield whole
  }

  /** Where in the file the next bytes are. */
  function count(bytes: Buffer) {
    let start = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, start)) {
      start = at + 1
      lines++
    }
    const letters = bytes.toString(encoding === 'windows-1252' ? 'latin1' : 'utf8', start).length
    lettersOfLine = start === 0 ? lettersOfLine + letters : letters
  }

  function mixed(before: Buffer): string {
    count(before)
    const was =
      encoding === 'windows-1252'
        ? 'Windows-1252 before it, and this is UTF-8'
        : 'UTF-8 before it, and this is not'
    return `Line ${lines}, character ${lettersOfLine + 1}: the file is ${was}: ${SAVE_AS}`
  }
}

/** Where the first letter begins that is no UTF-8, or -1. */
function brokenIn(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1
  for (let at = 0; ; ) {
    const length = lettersLength(bytes[at] as number)
    if (!isUtf8(bytes.subarray(at, at + length))) return at
    at += length
  }
}

/** Where the first letter of UTF-8 beyond ASCII begins, or -1. */
function utf8In(bytes: Buffer): number {
  return isAscii(bytes) ? -1 : bytes.toString('latin1').search(UTF8_LETTER)
}

/** Where the last letter that is whole ends: UTF-8's letters have up to four bytes. */
function endOfLetters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) {
      return lettersLength(byte) > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** The first letter beyond ASCII, as long as UTF-8 would have it: what comes after it may be in another encoding. */
function firstLetter(bytes: Buffer): Buffer {
  const at = bytes.findIndex(byte => byte >= 0x80)
  return bytes.subarray(at, at + lettersLength(bytes[at] as number))
}

const lettersLength = (byte: number) => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1)
