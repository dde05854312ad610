import { hash } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import { asJson } from '../../http/as-json.ts'
import { Conflict } from '../../http/problem.ts'
import { newId } from '../../ids.ts'
import { type Asker, audit } from '../audit.ts'
import type { Facts } from './act-call.ts'
import type { Proposal } from './approval-record.ts'
import { endDue } from './end-due.ts'

export type Proposed = Static<typeof Proposal>
type NewProposal = { call: { name: string }; request: object; facts: Facts; hours: number }

/** Saves a proposal. @throws Conflict while the same act on the same subject is open */
export async function propose(
  trx: Trx,
  { call, request, facts, hours }: NewProposal,
  asker: Asker,
): Promise<Proposed> {
  const { act, subject, amount, currency, shown } = facts
  const { actor, caller, address, requestId } = asker
  const { note = null } = request as { note?: string }
  await endDue(trx)
  const { rows } = await sql<Proposed>`
    insert into loanops.approval (id, call, act, subject, amount, currency, request, facts, fingerprint,
                                  proposed_by, caller, address, request_id, note, expires_at)
    values (${newId()}, ${call.name}, ${act}, ${subject}, ${amount}, ${currency}, ${JSON.stringify(request)}, ${JSON.stringify(shown)},
            ${fingerprintOf(facts)}, ${actor}, ${caller}, ${address}, ${requestId}, ${note}, now() + make_interval(secs => ${hours * 3_600}))
    on conflict do nothing
    returning id as approval_id, act, subject, state, expires_at`.execute(trx)
  if (rows[0] === undefined)
    throw new Conflict(`${act} of ${subject} is already proposed: approve, reject or withdraw that`)
  const { approval_id } = rows[0]
  const detail = { approval_id, act, amount, currency, note }
  await audit(trx, { ...asker, action: 'approval.propose', subject, detail })
  return asJson(rows[0])
}

export function fingerprintOf({ act, subject, state }: Facts): Buffer {
  return hash('sha256', JSON.stringify([act, subject, state]), 'buffer')
}
