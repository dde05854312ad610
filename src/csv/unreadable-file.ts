import createError from '@fastify/error'

/** An error within a row is recorded with the row instead. */
export const UnreadableFile = createError<[string]>('INVALID_PAYLOAD', '%s', 400)

export const noRows = () => new UnreadableFile('The file has no rows below its header')
