import createError from '@fastify/error'

/** The error handler sends the error's seconds as `Retry-After`. */
export class TooManyAttempts extends createError(
  'TOO_MANY_ATTEMPTS',
  '%s: try again in %s seconds',
  429,
) {
  readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number, why = 'Too many failed attempts') {
    super(why, retryAfterSeconds)
    this.retryAfterSeconds = retryAfterSeconds
  }
}
