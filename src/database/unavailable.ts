import createError from '@fastify/error'

/** Refuses a request for now: the caller should retry. */
export const Unavailable = createError('UNAVAILABLE', 'The service is unavailable: %s', 503)
