import { html } from 'hono/html'
import type { Content } from '../frame/html.ts'
import { clientPath, loanPath, migrationPath, paymentSubjectPath } from '../frame/paths.ts'

export function subjectOf(subject: string): Content {
  const [kind = '', ...rest] = subject.split(':')
  const id = rest.join(':')
  const path = PATHS[kind]?.(id)
  return path === undefined ? subject : html`<a href="${path}">${subject}</a>`
}

const PATHS: Record<string, (id: string) => string> = {
  loan: loanPath,
  client: clientPath,
  migration: migrationPath,
  payment: paymentSubjectPath,
}
