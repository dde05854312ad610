import { type Static, Type } from '@sinclair/typebox'
import { askerOf } from '../../accounts/access/actor.ts'
import { toOperate } from '../../accounts/access/needs.ts'
import { actRoutes } from '../../accounts/approvals/act-routes.ts'
import { Proposal } from '../../accounts/approvals/approval-record.ts'
import type { ForApprovals } from '../../accounts/approvals/perform.ts'
import type { App } from '../../http/app.ts'
import { asJson } from '../../http/as-json.ts'
import { Time } from '../../http/fields/day-fields.ts'
import { NullableText, optional, titled, titledBody } from '../../http/fields/schemas.ts'
import { Note } from '../../http/fields/text-fields.ts'
import { pauseCall } from './pause-call.ts'
import { resumeLedger } from './pause-ledger.ts'

const Later = { ...Time, examples: ['2099-11-20T22:00:00+05:30'] }
const State = titled('LedgerPause', {
  paused: Type.Boolean(),
  reason: NullableText,
  since: NullableText,
  until: NullableText,
})
const pauseSchema = {
  operationId: 'pauseLedger',
  summary: 'Keeps every process from beginning a write at the ledger; intake and reads continue',
  body: titledBody('PauseLedgerRequest', { reason: Note, until: optional(Later) }),
  response: { 200: State, 202: Proposal },
}
const resumeSchema = {
  operationId: 'resumeLedger',
  summary: 'Ends the pause of writes to the ledger',
  response: { 200: State },
}

export function pauseRoutes(app: App, context: ForApprovals): void {
  const { db } = context
  actRoutes(app, context).post('/ledger/pause', pauseSchema, pauseCall, {
    asked: ({ body }) => ({ until: null, ...body }),
  })

  app.post('/ledger/resume', toOperate(resumeSchema), async request =>
    asJson<Static<typeof State>>(await resumeLedger(db, askerOf(request))),
  )
}
