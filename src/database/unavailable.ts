import createError from '@fastify/error'

export const Unavailable = createError('UNAVAILABLE', 'The service is unavailable: %s', 503)
