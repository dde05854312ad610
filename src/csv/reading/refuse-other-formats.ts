import { UnreadableFile } from './unreadable-file.ts'

/** Enough bytes to include the name of a zip archive's first entry, which tells a workbook from other archives. */
export const SIGNATURE_BYTES = 64

type Format = { starts: RegExp; sentence: string }

const SAVE = 'open it and save it as CSV UTF-8'
const UNPACK = 'unpack it and upload the CSV file inside'
const EXPORT = 'export the data as CSV from the program that made it'

/** Formats by their first bytes, each as one character, and a control character as its picture. */
const BINARY: Format[] = [
  {
    starts: /^PK␃␄.{26}(\[Content_Types\]|_rels\/|docProps\/|xl\/|Index\/|mimetypeapp)/,
    sentence: `The file is a workbook, not a CSV file: ${SAVE}`,
  },
  { starts: /^PK(␃␄|␅␆|␇␈)/, sentence: `The file is a zip archive, not a CSV file: ${UNPACK}` },
  {
    starts: /^\xd0\xcf␑\xe0/,
    sentence: `The file is a workbook of an old Excel, not a CSV file: ${SAVE}`,
  },
  { starts: /^␟\x8b/, sentence: `The file is compressed with gzip: ${UNPACK}` },
  {
    starts: /^(BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!)/,
    sentence: `The file is compressed, not a CSV file: ${UNPACK}`,
  },
  { starts: /^%PDF/, sentence: `The file is a PDF, not a CSV file: ${EXPORT}` },
  { starts: /^(\xff\xfe␀␀|␀␀\xfe\xff)/, sentence: 'The file is UTF-32: save it as CSV UTF-8' },
  {
    starts: /^(([^␀]␀){3}|(␀[^␀]){3})/,
    sentence: 'The file is UTF-16 without a mark at its start: save it as CSV UTF-8',
  },
  { starts: /␀/, sentence: `The file is not text, as a CSV file is: ${EXPORT}` },
]

/** Formats by the first characters that are not blank. */
const TEXTS: Format[] = [
  {
    starts: /^(<[!?a-z]|MIME-Version:)/i,
    sentence: `The file is a web page or XML, not a CSV file: ${SAVE}`,
  },
  { starts: /^\{\\rtf/, sentence: `The file is RTF, not a CSV file: ${EXPORT}` },
  { starts: /^[[{]/, sentence: `The file is JSON, not a CSV file: ${EXPORT}` },
]

/** @throws UnreadableFile that says what the file is and what to do */
export function refuseOtherFormats(start: Buffer): void {
  const characters = start.toString('latin1', 0, SIGNATURE_BYTES)
  refuse(characters.replace(CONTROL, pictureOf), BINARY)
}

/** @throws UnreadableFile, as refuseOtherFormats */
export function refuseOtherTexts(start: string): void {
  refuse(start.trimStart(), TEXTS)
}

const CONTROL = /[^ -\xff]/g
const pictureOf = (control: string) => String.fromCodePoint(0x2400 + control.charCodeAt(0))

function refuse(start: string, formats: Format[]) {
  const format = formats.find(({ starts }) => starts.test(start))
  if (format !== undefined) throw new UnreadableFile(format.sentence)
}
