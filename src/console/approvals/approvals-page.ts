import { html } from 'hono/html'
import { approvalFilters } from '../../accounts/approvals/approval-routes.ts'
import { findApprovals, someApprovals } from '../../accounts/approvals/find-approvals.ts'
import { subjectLink } from '../audit/subject-link.ts'
import { amount, inLoansCurrency } from '../frame/formats.ts'
import { type Content, type Html, link } from '../frame/html.ts'
import { approvalPath } from '../frame/paths.ts'
import { countUpTo } from '../lists/count.ts'
import { amountColumn, column, exportOnly, idColumn, timeColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { actInWords } from '../text/words.ts'

export type ApprovalItem = Awaited<ReturnType<typeof findApprovals>>['page'][number]

export const approvalsPage = listPage<typeof approvalFilters, ApprovalItem>(({ db, formats }) => ({
  path: '/approvals',
  title: 'Approvals',
  filters: approvalFilters,
  cursor: ['uuid'],
  empty: 'No proposal matches. What a second person must approve appears here.',
  columns: [
    column('act', 'Act', row => link(approvalPath(row.approval_id), actInWords(row.act))),
    idColumn('subject', 'Subject', approvalSubject),
    { ...amountColumn, cell: approvalAmount },
    column('state', 'State', row => approvalState(row.state)),
    column('proposed_by', 'Proposed by'),
    timeColumn(formats, 'proposed_at', 'Proposed'),
    timeColumn(formats, 'expires_at', 'Expires'),
    column('decided_by', 'Decided by'),
    timeColumn(formats, 'decided_at', 'Decided'),
    ...exportOnly('currency', 'note', 'decision_note', 'approval_id'),
  ],
  load: query => findApprovals(db, query),
  count: filter => countUpTo(db, someApprovals(filter)),
}))

export function approvalState(state: string): Html {
  const look = { proposed: 'wait', approved: 'good' }[state] ?? 'bad'
  return html`<span class="${look}">${state}</span>`
}

export function approvalSubject({ act, subject }: Pick<ApprovalItem, 'act' | 'subject'>): Content {
  return /^(payment|operation|portfolio|statement)\./.test(act)
    ? subjectLink(act, subject)
    : subject
}

export const approvalAmount = ({ act, amount: sum, currency }: ApprovalItem): string =>
  sum !== null && /^payment\.(post|assign)$/.test(act)
    ? postedAmount(sum, currency)
    : amount(sum, currency)

/** What is posted for a payment that is not in its loan's currency is in that one, which only the ledger knows. */
export const postedAmount = (sum: string, currency: string | null): string =>
  currency === null ? inLoansCurrency(sum) : amount(sum, currency)
