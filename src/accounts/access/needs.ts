import type { FastifyRequest } from 'fastify'
import type { Act } from '../../config/acts.ts'
import { TOKEN_ROLES, type TokenRole } from '../../config/settings/access-settings.ts'
import type { Role } from '../account.ts'

/**
 * The needs of a call: the roles of tokens that may make it, besides those without a role, and the least role of the
 * account that makes it, if one does or must.
 */
export const NEEDS = {
  /** Nothing, as for a login: nobody is known yet. */
  nothing: who(TOKEN_ROLES, 'viewer'),
  any: who(TOKEN_ROLES, 'viewer'),
  own: who(TOKEN_ROLES, 'viewer', true),
  submit: who(['submit', 'operate'], 'operator'),
  read: who(['read', 'operate'], 'viewer'),
  operate: who(['operate'], 'operator'),
  accounts: who([], 'admin', true),
}
export type Needs = keyof typeof NEEDS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route under /api and /console says what it needs. */
    needs?: Needs
    /** The acts that the call may do, of those that can be kept for persons. */
    acts?: readonly Act[]
    /** Which of these acts a valid call asks for; without this function, all. */
    actsIn?(request: FastifyRequest): readonly Act[]
  }
}

export const read = { needs: 'read' } as const
export const operate = (...acts: Act[]) => ({ needs: 'operate', acts }) as const
export const forAdmins = { needs: 'accounts' } as const
export const needsToDo = ({ acts }: { acts: readonly Act[] }) => ({ needs: needsOf(...acts), acts })

export const toRead = <Schema>(schema: Schema) => ({ schema, config: read })

/** The options of a route that changes something for which no second person is ever asked. */
export const toOperate = <Schema>(schema: Schema) => ({ schema, config: operate() })

/** The options of a route whose call may have to wait for the approval of a second person. */
export const toDo = <Schema>(call: { acts: readonly Act[] }, schema: Schema) => ({
  schema,
  config: needsToDo(call),
})

/** What a call needs that does one of these acts; an approval of it needs the same. */
export const needsOf = (...acts: readonly string[]): Needs =>
  acts.some(act => act.startsWith('account.')) ? 'accounts' : 'operate'

function who(tokens: readonly TokenRole[], account: Role, isPersonal = false) {
  return { tokens, account, isPersonal }
}
