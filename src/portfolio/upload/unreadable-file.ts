import createError from '@fastify/error'

/** A file that is no such file at all. What is wrong in a row is the row's. */
export const UnreadableFile = createError<[string]>('INVALID_PAYLOAD', '%s', 400)
