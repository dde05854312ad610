import { UnreadableFile } from './unreadable-file.ts'

/** As many bytes as the longest signature has. */
export const SIGNATURE_BYTES = 8

const AS_CSV = 'open it and save it as CSV UTF-8'
/** By the first bytes in hexadecimal. */
const FORMATS = [
  {
    starts: /^504b0304/,
    sentence: `The file is a workbook or another zip archive, not a CSV file: ${AS_CSV}`,
  },
  {
    starts: /^d0cf11e0/,
    sentence: `The file is a workbook of an old Excel, not a CSV file: ${AS_CSV}`,
  },
  {
    starts: /^1f8b/,
    sentence: 'The file is compressed with gzip: unpack it and upload the CSV file inside',
  },
  {
    starts: /^25504446/,
    sentence:
      'The file is a PDF, not a CSV file: export the data as CSV from the program that made it',
  },
  {
    starts: /^3c(21|3f|[46][1-9a-f]|[57][0-9a])/,
    sentence: `The file is a web page or XML, not a CSV file: ${AS_CSV}`,
  },
  {
    starts: /^((?!00)..00){3}|^(00(?!00)..){3}/,
    sentence: 'The file is UTF-16 without a mark at its start: save it as CSV UTF-8',
  },
]

/** @throws UnreadableFile that says what the file is and what to do */
export function refuseOtherFormats(start: Buffer): void {
  const bytes = start.toString('hex', 0, SIGNATURE_BYTES)
  const format = FORMATS.find(({ starts }) => starts.test(bytes))
  if (format !== undefined) throw new UnreadableFile(format.sentence)
}
