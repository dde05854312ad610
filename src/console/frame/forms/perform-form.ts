import type { FastifyReply } from 'fastify'
import { askerOf } from '../../../accounts/access/actor.ts'
import type { ActCall } from '../../../accounts/approvals/act-call.ts'
import { type ForApprovals, perform } from '../../../accounts/approvals/perform.ts'
import { donePath } from '../notice.ts'
import { approvalPath } from '../paths.ts'

type Sent<Asked, Result> = {
  asked: Asked
  reply: FastifyReply
  /** The page to show when the form is done, with its notice, or what answers with it. */
  done: string | ((result: Result) => unknown)
}

/**
 * Does what a form asks for, and redirects to the page that shows the result, or to the proposal if a second person must
 * approve it. A browser drops the first request of a double click, so it goes on when its caller is gone: the second
 * request shows its outcome.
 */
export async function performForm<Asked extends object, Looked, Result>(
  context: ForApprovals,
  call: ActCall<Asked, Looked, Result>,
  { asked, reply, done }: Sent<Asked, Result>,
) {
  const asker = askerOf(reply.request)
  const performed = await perform(context, call, { asker, request: asked })
  if ('proposal' in performed)
    return reply.redirect(donePath(approvalPath(performed.proposal.approval_id), 'proposed'), 303)
  return typeof done === 'string' ? reply.redirect(done, 303) : done(performed.result)
}
