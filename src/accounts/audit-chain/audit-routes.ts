import type { Database } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { NullableText, nullableText, titled } from '../../http/fields/schemas.ts'
import { toRead } from '../access/needs.ts'
import { auditHead } from './audit-head.ts'

const schema = {
  operationId: 'getAuditHead',
  summary: 'Returns the last sealed row of the audit and its chain, to be kept elsewhere',
  description: 'Both are null until the first row is sealed, within a minute.',
  response: {
    200: titled('AuditHead', {
      id: NullableText,
      chain: nullableText('SHA-256 of the chain before and the row'),
    }),
  },
}

export function auditRoutes(app: App, { forReads }: { forReads: Database }): void {
  app.get('/audit/head', toRead(schema), async () => {
    return (await auditHead(forReads)) ?? { id: null, chain: null }
  })
}
