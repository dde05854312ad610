import type { FastifyReply } from 'fastify'
import { askerOf } from '../../../accounts/access/actor.ts'
import type { ActCall } from '../../../accounts/approvals/act-call.ts'
import { type ForApprovals, perform } from '../../../accounts/approvals/perform.ts'
import { whileAsked } from '../../../http/while-asked.ts'
import { donePath } from '../notice.ts'
import { approvalPath } from '../paths.ts'

/**
 * Does what a form asks for, and leads to where this is seen; to the proposal, if a second person must approve it.
 * @param done where a done one leads, with its notice, or what answers with it
 */
export async function performForm<Asked extends object, Looked, Result>(
  context: ForApprovals,
  call: ActCall<Asked, Looked, Result>,
  asked: Asked,
  reply: FastifyReply,
  done: string | ((result: Result) => Promise<unknown>),
) {
  const performed = await perform(context, call, askerOf(reply.request), asked, whileAsked(reply))
  if ('proposal' in performed)
    return reply.redirect(donePath(approvalPath(performed.proposal.approval_id), 'proposed'), 303)
  return typeof done === 'string' ? reply.redirect(done, 303) : done(performed.result)
}
