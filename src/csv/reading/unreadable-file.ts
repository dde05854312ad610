import createError from '@fastify/error'

export class UnreadableFile extends createError<[string]>('INVALID_PAYLOAD', '%s', 400) {
  /** These are the answer's `errors`. */
  readonly fields: { path: string; message: string; isSentence: true }[]
  constructor(message: string) {
    super(message)
    this.fields = [{ path: '/file', message, isSentence: true }]
  }
}

/**
 * The refusal of a file of which rows were taken before its fault was read. It names no field, because that would mean that
 * nothing was changed.
 */
export async function afterTaking(
  error: unknown,
  taken: (reason: string) => Promise<string | undefined>,
): Promise<unknown> {
  const { statusCode = 500, message } = error as { statusCode?: number; message: string }
  const said = statusCode < 500 ? await taken(message) : undefined
  if (said === undefined) return error
  return Object.assign(error as Error, { message: `${message}. ${said}`, fields: undefined })
}

export const noRows = () => new UnreadableFile('The file has no rows below its header')

export const otherHeader = (line: number) =>
  new UnreadableFile(
    `Line ${line}: the header of another file, with other columns or in another order: upload the files one by one`,
  )
