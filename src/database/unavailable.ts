import createError from '@fastify/error'

/** The caller should retry. */
export const Unavailable = createError('UNAVAILABLE', 'The service is unavailable: %s', 503)
