import { type Content, link } from '../frame/html.ts'
import { callbackPath, loanPath, migrationPath, pagePath, statementPath } from '../frame/paths.ts'

/** The page of a subject, by the action or what the action begins with, where that is not the subject's kind. */
const PAGES: Record<string, (subject: string) => string> = {
  'gateway.statement': statementPath,
  'reference.begin': () => '/console/references',
  'reference.upload': () => '/console/references',
  reference: subject => loanPath(subject.replace(/^loan:/, '')),
  portfolio: migrationPath,
  source: () => '/console/sources',
  queue: () => '/console/sources',
  gateway: () => '/console/backfills',
  callback: subject => (subject === 'callbacks' ? '/console/callbacks' : callbackPath(subject)),
}

export function subjectLink(action: string, subject: string): Content {
  const kind = action.split('.', 1)[0] ?? ''
  const path = (PAGES[action] ?? PAGES[kind])?.(subject) ?? pagePath(kind, subject)
  return path === undefined ? subject : link(path, subject)
}
