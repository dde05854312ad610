import createError from '@fastify/error'
import { sql } from 'kysely'
import type { Act } from '../../config/acts.ts'
import type { TokenRole } from '../../config/settings/access-settings.ts'
import { crashPoint } from '../../crash-point.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { rowById } from '../../http/lists/row-by-id.ts'
import { Conflict } from '../../http/problem.ts'
import { refuseToken } from '../access/access.ts'
import { needsOf } from '../access/needs.ts'
import { type Asker, audit } from '../audit.ts'
import type { AnyActCall, CallAnswer } from './act-call.ts'
import { findApproval } from './find-approvals.ts'
import { isSameAccount, requirePerson } from './person.ts'
import { fingerprintOf } from './propose.ts'

const OwnProposal = createError(
  'OWN_PROPOSAL',
  'You proposed this yourself: somebody else must approve it',
  403,
)
const NotProposer = createError('FORBIDDEN', 'Only %s, who proposed this, may withdraw it', 403)
const Expired = createError('EXPIRED', 'The proposal has expired: propose it again', 409)
const Stale = createError(
  'STALE',
  'This has changed since it was proposed: check its present state, then propose it again',
  409,
)

type Decision = {
  id: string
  note?: string | null | undefined
  asker: Asker
  /** The role of the token of the API's callers. */
  tokenRole?: TokenRole | null
  signal?: AbortSignal
}
type Context = { db: Database; calls: AnyActCall[] }

/** Does the act in the transaction that ends the approval: both happen, or neither. @returns the act's own answer */
export async function approve(context: Context, decision: Decision): Promise<CallAnswer> {
  const { id, signal } = decision
  const { call: name } = await proposal(context.db, id)
  const call = context.calls.find(one => one.name === name)
  if (call === undefined) throw new Conflict(`This version of LoanOps has no call ${name}`)
  const db = call.db ?? context.db
  const before = call.look && (await unlessStale(db, call, decision, async (_, open) => open))
  const looked = before && (await call.look?.(before.request, before.proposer, signal))
  const { request, result } = await unlessStale(db, call, decision, async (trx, open) => {
    await end(trx, open, 'approved', decision)
    crashPoint('approval.ended')
    const act = call.actAsWhole ?? call.act
    const result = await act(trx, open.proposer, open.request, looked)
    crashPoint('approval.done')
    return { request: open.request, result }
  })
  crashPoint('approval.committed')
  await call.finish?.(request, result)
  return call.answer(request, result)
}

/** @throws OwnProposal, Stale, which ends the approval, and whatever `work` throws, which does not */
async function unlessStale<T>(
  db: Database,
  call: AnyActCall,
  decision: Decision,
  work: (trx: Trx, open: Open) => Promise<T>,
): Promise<T> {
  const done = await inTransaction(db, async trx => {
    const open = await lockOpen(trx, decision)
    if (isSameAccount(open.proposedBy, decision.asker.actor)) throw new OwnProposal()
    if (await isUnchanged(trx, call, open)) return { value: await work(trx, open) }
    await end(trx, open, 'stale', decision)
    return undefined
  })
  if (done === undefined) throw new Stale()
  return done.value
}

async function isUnchanged(trx: Trx, call: AnyActCall, open: Open): Promise<boolean> {
  try {
    return fingerprintOf(await call.factsOf(trx, open.request)).equals(open.fingerprint)
  } catch (error) {
    // The subject of the proposal is gone.
    if ((error as { statusCode?: number }).statusCode === 404) return false
    throw error
  }
}

/** Ends a proposal without doing its act. Anybody may reject it, but only who proposed it may withdraw it. */
export function turnDown(db: Database, state: 'rejected' | 'withdrawn', decision: Decision) {
  return inTransaction(db, async trx => {
    const open = await lockOpen(trx, decision)
    if (state === 'withdrawn' && !isSameAccount(open.proposedBy, decision.asker.actor))
      throw new NotProposer(open.proposedBy)
    await end(trx, open, state, decision)
  })
}

/** Withdraws the proposals that an account may no longer make, in the transaction that disables it or takes its role away. */
export async function withdrawAllOf(
  trx: Trx,
  username: string,
  asker: Asker,
  note = 'The account is disabled',
): Promise<void> {
  const { rows } = await sql<{ approval_id: string; act: string; subject: string }>`
    update loanops.approval a
       set state = 'withdrawn', request = request - 'password_hash', decided_at = now(), decided_by = ${asker.actor}, decision_note = ${note}
      from ops.approval v
     where v.approval_id = a.id and lower(a.proposed_by) = lower(${username}) and a.state = 'proposed' and v.state = 'withdrawn'
    returning a.id as approval_id, a.act, a.subject`.execute(trx)
  for (const { subject, ...detail } of rows)
    await audit(trx, { ...asker, action: 'approval.withdraw', subject, detail })
}

type Stored = Omit<Asker, 'actor'> & {
  call: string
  act: Act
  subject: string
  proposedBy: string
  request: object
  fingerprint: Buffer
}
type Open = Stored & { proposer: Asker }

function proposal(db: Database, id: string, lock = sql``): Promise<Stored> {
  const stored = sql<Stored>`
    select call, act, subject, proposed_by as "proposedBy", request, fingerprint, caller, host(address) as address,
           request_id as "requestId"
      from loanops.approval where id = ${id} ${lock}`
  return rowById(db, id, `No approval ${id}`, stored)
}

async function lockOpen(trx: Trx, { id, asker, tokenRole = null }: Decision): Promise<Open> {
  const stored = await proposal(trx, id, sql`for update`)
  // A token that may not make the call itself may not decide about it.
  refuseToken(needsOf(stored.act), tokenRole)
  await requirePerson(trx, asker, stored.act)
  // The state is read in a statement of its own: the one that waited for the lock would not see what was decided
  // meanwhile.
  const { state } = await findApproval(trx, id)
  if (state === 'expired') throw new Expired()
  if (state !== 'proposed') throw new Conflict(`The proposal is already ${state}`)
  const { proposedBy: actor, caller, address, requestId } = stored
  const approval = { approval_id: id, approved_by: asker.actor }
  return { ...stored, proposer: { actor, caller, address, requestId, approval } }
}

const ACTIONS = {
  approved: 'approval.approve',
  rejected: 'approval.reject',
  withdrawn: 'approval.withdraw',
  stale: 'approval.stale',
}

async function end(
  trx: Trx,
  { act, subject, proposedBy: proposed_by }: Open,
  state: keyof typeof ACTIONS,
  { id: approval_id, note = null, asker }: Decision,
): Promise<void> {
  // The time may have run out while this waited for locks.
  const { numAffectedRows } = await sql`
    update loanops.approval set state = ${state}, request = request - 'password_hash',
           decided_by = ${asker.actor}, decided_at = now(), decision_note = ${note}
     where id = ${approval_id} and expires_at > clock_timestamp()`.execute(trx)
  if (numAffectedRows === 0n) throw new Expired()
  const detail = { approval_id, act, proposed_by, note }
  await audit(trx, { ...asker, action: ACTIONS[state], subject, detail })
}
