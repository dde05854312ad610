import type { InternalToken } from '../config/secrets.ts'

/** The first one may do most: the docs' examples also write. */
const ROLES = [null, 'operate', 'submit', 'read']

export function tokenForExamples(tokens: InternalToken[]): InternalToken | undefined {
  const rank = ({ role }: InternalToken) => ROLES.indexOf(role)
  return tokens.toSorted((a, b) => rank(a) - rank(b))[0]
}
