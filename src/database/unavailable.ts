import createError from '@fastify/error'

/** For whatever cannot be stored at the moment: the caller should try again. */
export const Unavailable = createError('UNAVAILABLE', 'The service cannot keep this now: %s', 503)
