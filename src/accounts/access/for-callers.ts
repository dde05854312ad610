import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { notFound } from '../../http/problem.ts'
import { closeQuery, refuseUnknownBody, refuseUnreadableQuery } from '../../http/validator.ts'
import { accessTokens } from '../tokens/access-token.ts'
import { requireInternalToken } from '../tokens/internal-token.ts'
import { applyNeeds } from './access.ts'
import { refuseFalseCredentials } from './actor.ts'

export async function forCallers(scope: FastifyInstance, db: Database, config: Config) {
  scope.decorateRequest('caller', null)
  scope.decorateRequest('tokenRole', null)
  scope.addHook('onRequest', requireInternalToken(config.INTERNAL_TOKEN))
  scope.addHook('onRequest', refuseFalseCredentials)
  applyNeeds(scope, config.PERSON_REQUIRED)
  scope.addHook('onRoute', closeQuery)
  scope.addHook('preValidation', refuseUnreadableQuery)
  scope.addHook('preValidation', refuseUnknownBody)
  // The handler is set again in this scope, so that unknown paths under it require the token too.
  scope.setNotFoundHandler(notFound)
  await scope.register(accessTokens(db, config))
}
