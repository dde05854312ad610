import createError from '@fastify/error'

export class UnreadableFile extends createError<[string]>('INVALID_PAYLOAD', '%s', 400) {
  /** These are the answer's `errors`. */
  readonly fields: { path: string; message: string }[]
  constructor(message: string) {
    super(message)
    this.fields = [{ path: '/file', message }]
  }
}

export const noRows = () => new UnreadableFile('The file has no rows below its header')
