import { Decimal } from 'decimal.js'
import type { FastifyReply } from 'fastify'
import { sql } from 'kysely'
import type { ApprovalRule } from '../../config/approval-rules.ts'
import type { Config } from '../../config/config.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { whileAsked } from '../../http/while-asked.ts'
import { askerOf } from '../access/actor.ts'
import type { Asker } from '../audit.ts'
import type { ActCall, Part } from './act-call.ts'
import { requirePerson } from './person.ts'
import { type Proposed, propose } from './propose.ts'

export type ForApprovals = {
  db: Database
  config: Pick<Config, 'APPROVALS' | 'APPROVAL_TTL_HOURS'>
}
type Asked<Request> = { asker: Asker; request: Request; signal?: AbortSignal }
type Performed<Result> = { result: Result } | { proposal: Proposed }

/** Does what was asked for, or proposes it where a second person must approve it. */
export async function perform<Request extends object, Looked, Result>(
  { db, config }: ForApprovals,
  call: ActCall<Request, Looked, Result>,
  { asker, request, signal }: Asked<Request>,
): Promise<Performed<Result>> {
  const { APPROVALS: rules, APPROVAL_TTL_HOURS: hours } = config
  const own = call.db ?? db
  const acts = call.actsOf?.(request) ?? call.acts
  const looked = (await call.look?.(request, asker, signal)) as Looked
  const isNotCovered = !rules.some(({ act }) => acts.includes(act))
  const performed = isNotCovered
    ? { result: await call.act(own, asker, request, looked) }
    : await inTransaction(own, proposeOrDo)
  if ('result' in performed) await call.finish?.(request, performed.result)
  return performed

  async function proposeOrDo(trx: Trx): Promise<Performed<Result>> {
    const facts = await call.factsOf(trx, request)
    if (!isCovered(rules, facts.parts))
      return { result: await call.act(trx, asker, request, looked) }
    await requirePerson(trx, asker, facts.act)
    // An act that would be refused now is not proposed: it is tried, and taken back.
    await sql`savepoint before_trying`.execute(trx)
    await (call.actAsWhole ?? call.act)(trx, asker, request, looked)
    await sql`rollback to savepoint before_trying`.execute(trx)
    return { proposal: await propose(trx, { call, request, facts, hours }, asker) }
  }
}

/** Whether a rule covers a part: one without a known amount is above any amount. */
function isCovered(rules: ApprovalRule[], parts: Part[]): boolean {
  return parts.some(({ act, amount }) =>
    rules.some(
      ({ act: covered, above }) =>
        act === covered &&
        (above === null || amount === null || new Decimal(amount).greaterThan(above)),
    ),
  )
}

/** The act's own answer, or 202 with the proposal. */
export async function answerAct<Request extends object, Looked, Result>(
  context: ForApprovals,
  call: ActCall<Request, Looked, Result>,
  asked: Request,
  reply: FastifyReply,
): Promise<never> {
  const asker = askerOf(reply.request)
  const signal = whileAsked(reply)
  const performed = await perform(context, call, { asker, request: asked, signal })
  const { status, body } =
    'proposal' in performed
      ? { status: 202, body: performed.proposal }
      : await call.answer(asked, performed.result)
  return reply.code(status).send(body) as never
}
