import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { isEnough } from '../../accounts/access/access.ts'
import { askerOf } from '../../accounts/access/actor.ts'
import { needsOf, toOperate, toRead } from '../../accounts/access/needs.ts'
import type { Role } from '../../accounts/account.ts'
import { approve, turnDown } from '../../accounts/approvals/decide.ts'
import { findApproval } from '../../accounts/approvals/find-approvals.ts'
import { isSameAccount } from '../../accounts/approvals/person.ts'
import type { App } from '../../http/app.ts'
import { only } from '../../http/fields/schemas.ts'
import { IdParams, Note } from '../../http/fields/text-fields.ts'
import { findEvents } from '../../payments/reading/find-events.ts'
import { capitalised } from '../../text/capitalised.ts'
import { resetDone } from '../accounts/account-forms.ts'
import { DECISIONS, type DecisionName } from '../bulk/decisions.ts'
import { matchingList } from '../bulk/matching-list.ts'
import { answerPage } from '../frame/answer.ts'
import { amount, type Formats } from '../frame/formats.ts'
import { type Content, facts, type Html, nothing } from '../frame/html.ts'
import { type DoneKey, DoneQuery, doneNotice, donePath } from '../frame/notice.ts'
import { approvalPath, bulkPath, paymentPath } from '../frame/paths.ts'
import type { PageContext } from '../page-context.ts'
import { eventList } from '../payments/event-list.ts'
import { actInWords, words } from '../text/words.ts'
import {
  type ApprovalItem,
  approvalAmount,
  approvalState,
  approvalSubject,
  postedAmount,
} from './approvals-page.ts'

const pageSchema = { params: IdParams, querystring: DoneQuery }
const decideSchema = { params: IdParams, body: only({ note: Type.Optional(Note) }) }

export function approvalPage(app: App, context: PageContext): void {
  const { db, formats } = context
  const back = (id: string, done: DoneKey) => donePath(approvalPath(id), done)
  app.get('/approvals/:id', toRead(pageSchema), async (request, reply) => {
    const approval = await findApproval(db, request.params.id)
    const title = `${actInWords(approval.act)} of ${approval.subject}`
    const body = html`<h1>Approval</h1>
${noticeOn(approval, request.query.done)}
${approvalFacts(approval, formats)}
${approval.state === 'proposed' ? forms(approval, request.user) : nothing}
${progressLink(approval)}
${await eventsOf(approval)}
<p><a href="/console/approvals?state=proposed">Open approvals</a></p>`
    return answerPage(request, reply, { title, body })
  })

  app.post('/approvals/:id/approve', toOperate(decideSchema), async (request, reply) => {
    const { id } = request.params
    const decision = { id, note: request.body.note, asker: askerOf(request) }
    const { body } = await approve(context, decision)
    const { act, subject } = await findApproval(db, id)
    if (act !== 'account.reset') return reply.redirect(back(id, 'approved'), 303)
    const shownOnce = resetDone(subject, (body as { password: string }).password)
    return answerPage(request, reply, { title: 'Password reset', body: shownOnce })
  })

  for (const [path, state, done] of [
    ['/approvals/:id/reject', 'rejected', 'rejected'],
    ['/approvals/:id/withdraw', 'withdrawn', 'takenBack'],
  ] as const)
    app.post(path, toOperate(decideSchema), async (request, reply) => {
      const { id } = request.params
      await turnDown(db, state, { id, note: request.body.note, asker: askerOf(request) })
      return reply.redirect(back(id, done), 303)
    })

  /** The events of the payment that the proposal is about, as they are now. */
  async function eventsOf({ act, request, facts }: ApprovalItem): Promise<Html> {
    if (!act.startsWith('payment.')) return nothing
    const payment = { ...request, ...facts } as Parameters<typeof paymentPath>[0]
    const events = await findEvents(db, payment, { withBodies: false })
    return eventList(events, { withBodies: false, url: paymentPath(payment) }, formats)
  }
}

/** A form that is sent twice leads here, too, perhaps after the decision: then the notice is left out. */
const noticeOn = ({ state }: ApprovalItem, done: string | undefined): Html =>
  done === 'proposed' && state !== 'proposed' ? nothing : doneNotice(done)

function approvalFacts(approval: ApprovalItem, formats: Formats): Html {
  const { act, call, state, currency, request, facts: about } = approval
  const captured = (about as { currency?: string }).currency ?? null
  return html`${facts([
    ['Act', actInWords(act)],
    ['Subject', approvalSubject(approval)],
    ['Amount', approvalAmount(approval)],
    ['State', approvalState(state)],
    ['Proposed by', approval.proposed_by],
    ['Proposed', formats.time(approval.proposed_at)],
    ['Note', approval.note],
    ['Expires', formats.time(approval.expires_at)],
    ['Decided by', approval.decided_by],
    ['Decided', formats.time(approval.decided_at)],
    ['Note of the decision', approval.decision_note],
  ])}
<h2>What was asked for</h2>${facts([['Call', actInWords(call)], ...shown(request, formats, sum => postedAmount(sum, currency))])}
<h2>What it was about</h2>${facts(shown(about, formats, sum => amount(sum, captured)))}`
}

/** A bulk action runs row by row, and only its own page shows its progress. */
function progressLink({ act, state, request }: ApprovalItem): Html {
  const { id } = request as { id?: unknown }
  if (act !== 'bulk' || state !== 'approved' || typeof id !== 'string') return nothing
  return html`<p><a href="${bulkPath(id)}">Its progress</a></p>`
}

type InWords = (sum: string) => string

function shown(members: object, formats: Formats, sumInWords: InWords): [string, Content][] {
  return Object.entries(members)
    .filter(([name]) => name !== 'if_match' && name !== 'currency')
    .map(([name, value]) => {
      const isSum = value !== null && (name === 'amount' || name === 'sum')
      const text = isSum ? sumInWords(String(value)) : inWords(name, value, members, formats)
      return [capitalised(words(name)), text]
    })
}

function inWords(name: string, value: unknown, members: object, formats: Formats): Content {
  if (value === null) return null
  const { decision = '' } = members as { decision?: string }
  if (name === 'filter' && Object.hasOwn(DECISIONS, decision))
    return matchingList(decision as DecisionName, value as Record<string, string>)
  if (typeof value === 'string' && INSTANT.test(value) && !Number.isNaN(Date.parse(value)))
    return formats.time(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/

function forms(
  { approval_id: id, act, proposed_by }: ApprovalItem,
  { name, role }: { name: string; role: Role },
): Html {
  if (!isEnough(needsOf(act), role)) return nothing
  const path = approvalPath(id)
  if (isSameAccount(proposed_by, name))
    return html`<h2>Actions</h2><form class="box" method="post" action="${path}/withdraw">
<p>Somebody else must approve it.</p><button type="submit" class="secondary">Withdraw</button></form>`
  return html`<h2>Actions</h2><form class="box" method="post" action="${path}/approve">
<label>Note <textarea name="note" maxlength="1000" rows="2"></textarea></label>
<button type="submit">Approve</button> <button type="submit" class="secondary" formaction="${path}/reject">Reject</button></form>`
}
