import { html } from 'hono/html'
import type { Content } from '../frame/html.ts'
import {
  bulkPath,
  callbackPath,
  clientPath,
  loanPath,
  migrationPath,
  operationPath,
  paymentSubjectPath,
  statementPath,
} from '../frame/paths.ts'

/** The page of a subject, by the action or what the action begins with. */
const PAGES: Record<string, (subject: string) => string> = {
  'gateway.statement': statementPath,
  operation: operationPath,
  payment: paymentSubjectPath,
  loan: loanPath,
  'reference.begin': () => '/console/references',
  'reference.upload': () => '/console/references',
  reference: subject => loanPath(subject.replace(/^loan:/, '')),
  client: clientPath,
  migration: migrationPath,
  portfolio: migrationPath,
  batch: () => '/console/batches',
  source: () => '/console/sources',
  queue: () => '/console/sources',
  gateway: () => '/console/backfills',
  statement: statementPath,
  bulk: bulkPath,
  callback: subject => (subject === 'callbacks' ? '/console/callbacks' : callbackPath(subject)),
}

export function subjectLink(action: string, subject: string): Content {
  const path = (PAGES[action] ?? PAGES[action.split('.', 1)[0] ?? ''])?.(subject)
  return path === undefined ? subject : html`<a href="${path}">${subject}</a>`
}
