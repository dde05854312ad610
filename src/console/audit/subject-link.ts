import { html } from 'hono/html'
import type { Content } from '../frame/html.ts'
import { clientPath, loanPath, operationPath } from '../timeline/subject-path.ts'

const PAGES: Record<string, (subject: string) => string> = {
  operation: operationPath,
  payment: subject => paymentPath(subject),
  loan: loanPath,
  client: clientPath,
  migration: subject => `/console/portfolio/${encodeURIComponent(subject)}`,
  batch: () => '/console/batches',
  source: () => '/console/sources',
  queue: () => '/console/sources',
  gateway: () => '/console/backfills',
  statement: subject => `/console/books/statements/${encodeURIComponent(subject)}`,
  bulk: subject => `/console/bulk/${subject}`,
  callback: subject =>
    subject === 'callbacks'
      ? '/console/callbacks'
      : `/console/callbacks/${encodeURIComponent(subject)}`,
}

export function subjectLink(action: string, subject: string): Content {
  const path = PAGES[action.split('.', 1)[0] ?? '']?.(subject)
  return path === undefined ? subject : html`<a href="${path}">${subject}</a>`
}

function paymentPath(subject: string): string {
  const slash = subject.indexOf('/')
  const id = subject.slice(slash + 1)
  return `/console/payments/${encodeURIComponent(subject.slice(0, slash))}/${encodeURIComponent(id)}`
}
