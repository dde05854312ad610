import { html } from 'hono/html'
import type { Content } from '../frame/html.ts'
import { pagePath } from '../frame/paths.ts'

export function callbackSubject(subject: string): Content {
  const [kind = '', ...rest] = subject.split(':')
  const path = pagePath(kind, rest.join(':'))
  return path === undefined ? subject : html`<a href="${path}">${subject}</a>`
}
