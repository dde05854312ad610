import { Type } from '@sinclair/typebox'
import { sql } from 'kysely'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import { audit } from '../../accounts/audit.ts'
import { inTransaction } from '../../database/database.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { NotFound } from '../../http/problem.ts'
import { donePath } from '../frame/notice.ts'
import type { PageContext } from '../page-context.ts'
import { localTime } from '../text/local-time.ts'

const name = Type.String({ pattern: '^[a-z0-9_-]{1,100}$' })
const redriveSchema = { body: only({ queue: name }) }
const rereadSchema = { body: only({ source: name, since: Type.String({ maxLength: 40 }) }) }
const PATH = '/console/sources'

export function sourceActions(app: App, { db, config }: PageContext): void {
  app.post('/sources/redrive', toOperate(redriveSchema), async (request, reply) => {
    const { queue } = request.body
    const asker = askerOf(request)
    await inTransaction(db, async trx => {
      const { rows } = await sql<{ jobs: string }>`select ops.redrive(${queue}) as jobs`.execute(
        trx,
      )
      const detail = { jobs: Number(rows[0]?.jobs) }
      await audit(trx, { ...asker, action: 'queue.redrive', subject: queue, detail })
    })
    return reply.redirect(donePath(PATH, 'requeued'), 303)
  })

  app.post('/sources/reread', toOperate(rereadSchema), async (request, reply) => {
    const { source } = request.body
    const since = localTime(request.body.since, config.LEDGER_TIMEZONE, 'since').toISOString()
    const asker = askerOf(request)
    const events = await inTransaction(db, async trx => {
      const known = await sql`select from core.source where name = ${source}`.execute(trx)
      if (known.rows.length === 0) throw new NotFound(`No source ${source}`)
      const { rows } = await sql<{ events: string }>`
          select ops.reread(${source}, ${since}) as events`.execute(trx)
      const detail = { since, events: Number(rows[0]?.events) }
      await audit(trx, { ...asker, action: 'source.reread', subject: source, detail })
      return detail.events
    })
    return reply.redirect(donePath(PATH, events === 0 ? 'rereadNone' : 'reread'), 303)
  })
}
