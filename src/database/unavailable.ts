import createError from '@fastify/error'

/** For whatever is not possible at the moment: the caller should try again. */
export const Unavailable = createError('UNAVAILABLE', 'The service cannot do this now: %s', 503)
