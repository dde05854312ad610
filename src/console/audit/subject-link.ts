import { html } from 'hono/html'
import type { Content } from '../frame/html.ts'
import { clientPath, loanPath, operationPath, paymentSubjectPath } from '../frame/subject-path.ts'

const statementPath = (id: string) => `/console/books/statements/${encodeURIComponent(id)}`
/** The page of a subject, by the action or what the action begins with. */
const PAGES: Record<string, (subject: string) => string> = {
  'gateway.statement': statementPath,
  operation: operationPath,
  payment: paymentSubjectPath,
  loan: loanPath,
  reference: subject => loanPath(subject.replace(/^loan:/, '')),
  client: clientPath,
  migration: subject => `/console/portfolio/${encodeURIComponent(subject)}`,
  batch: () => '/console/batches',
  source: () => '/console/sources',
  queue: () => '/console/sources',
  gateway: () => '/console/backfills',
  statement: statementPath,
  bulk: subject => `/console/bulk/${subject}`,
  callback: subject =>
    subject === 'callbacks'
      ? '/console/callbacks'
      : `/console/callbacks/${encodeURIComponent(subject)}`,
}

export function subjectLink(action: string, subject: string): Content {
  const path = (PAGES[action] ?? PAGES[action.split('.', 1)[0] ?? ''])?.(subject)
  return path === undefined ? subject : html`<a href="${path}">${subject}</a>`
}
