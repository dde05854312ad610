import createError from '@fastify/error'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Act } from '../../config/acts.ts'
import type { TokenRole } from '../../config/settings/access-settings.ts'
import { ROLES, type Role } from '../account.ts'
import { Unauthenticated } from './actor.ts'
import { NEEDS, type Needs } from './needs.ts'

const WrongToken = createError('FORBIDDEN', 'This needs a token %s; this one has the role %s', 403)
const WrongAccount = createError('FORBIDDEN', 'This needs an account of role %s; yours is %s', 403)
export const PersonRequired = createError(
  'PERSON_REQUIRED',
  'The act %s needs a person: send the access token of an account as Bearer, or use the console',
  403,
)

/** An onRoute hook: the process does not start if a route does not declare what it needs. */
export function requireNeeds({ method, url, config }: RouteOptions): void {
  if (/^\/(api|console)(\/|$)/.test(url) && config?.needs === undefined)
    throw new Error(`${method} ${url} does not declare what it needs`)
}

/**
 * Applies needs to calls whose token, and whose account if they name one, is known. A path without a route needs no
 * more.
 */
export function applyNeeds(scope: FastifyInstance, keptForPersons: readonly Act[]): void {
  const refuseKept = ({ user }: FastifyRequest, acts: readonly Act[]) => {
    const kept = user === null && acts.find(act => keptForPersons.includes(act))
    if (kept) throw new PersonRequired(kept)
  }
  scope.addHook('onRequest', async request => {
    const { needs, acts = [], actsIn } = request.routeOptions.config
    if (needs === undefined) return
    refuseToken(needs, request.tokenRole)
    if (actsIn === undefined) refuseKept(request, acts)
    if (request.user !== null) refuseAccount(needs, request.user.role)
    else if (NEEDS[needs].isPersonal) throw new Unauthenticated()
  })
  scope.addHook('preHandler', async request => {
    refuseKept(request, request.routeOptions.config.actsIn?.(request) ?? [])
  })
}

export function refuseToken(needs: Needs, role: TokenRole | null): void {
  const { tokens } = NEEDS[needs]
  if (role === null || tokens.includes(role)) return
  const other = tokens.length === 0 ? '' : `of role ${tokens.join(' or ')}, or one `
  throw new WrongToken(`${other}without a role`, role)
}

export function refuseAccount(needs: Needs, role: Role): void {
  if (!isEnough(needs, role)) throw new WrongAccount(rolesFor(needs).join(' or '), role)
}

export const isEnough = (needs: Needs, role: Role) => rolesFor(needs).includes(role)

const rolesFor = (needs: Needs) => ROLES.slice(0, ROLES.indexOf(NEEDS[needs].account) + 1)
