import { type Content, link } from '../frame/html.ts'
import { pagePath } from '../frame/paths.ts'

export function callbackSubject(subject: string): Content {
  const [kind = '', ...rest] = subject.split(':')
  const path = pagePath(kind, rest.join(':'))
  return path === undefined ? subject : link(path, subject)
}
