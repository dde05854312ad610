import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Database } from '../../database/database.ts'
import { nullable } from '../../http/fields/schemas.ts'
import { toRead } from '../access/needs.ts'
import { auditHead } from './audit-head.ts'

const schema = {
  operationId: 'getAuditHead',
  tags: ['audit'],
  summary: 'Returns the last sealed row of the audit and its chain, to be kept elsewhere',
  description: 'Both are null until the first row is sealed, within a minute.',
  response: {
    200: Type.Object(
      {
        id: nullable(Type.String()),
        chain: nullable(Type.String({ description: 'SHA-256 of the chain before and the row' })),
      },
      { title: 'AuditHead' },
    ),
  },
}

export function auditRoutes({ forReads }: { forReads: Database }): FastifyPluginAsyncTypebox {
  return async app => {
    app.get('/audit/head', toRead(schema), async () => {
      return (await auditHead(forReads)) ?? { id: null, chain: null }
    })
  }
}
