import type { RouteOptions } from 'fastify'
import { NEEDS, type Needs } from '../../../src/accounts/access/needs.ts'

type Call = { methods: string[]; url: string; needs: Needs; acts: readonly string[] }

/** The tables of docs/security.md, of what the routes declare. */
export function accessTables(routes: RouteOptions[]): string {
  const calls = callsOf(routes.filter(({ method }) => method !== 'HEAD'))
  const ofApi = calls.filter(({ url }) => url.startsWith('/api'))
  const ofConsole = calls.filter(({ url }) => url.startsWith('/console'))
  return [
    '| call | tokens | accounts | acts |',
    '|---|---|---|---|',
    ...ofApi.map(one => row(`${one.methods.join(', ')} ${one.url}`, tokensFor(one), one)),
    '',
    '| console | sessions | acts |',
    '|---|---|---|',
    ...ofConsole.map(one => row(`${one.methods.join(', ')} ${one.url}`, null, one)),
  ].join('\n')
}

function callsOf(routes: RouteOptions[]): Call[] {
  const alike = Map.groupBy(routes, ({ url, config = {} }) =>
    JSON.stringify([url, config.needs, config.acts]),
  )
  return [...alike.values()]
    .map(same => ({
      methods: same.map(({ method }) => String(method)).sort(),
      url: (same[0]?.url ?? '').replaceAll(/:(\w+)/g, '{$1}'),
      needs: same[0]?.config?.needs ?? 'nothing',
      acts: same[0]?.config?.acts ?? [],
    }))
    .sort((a, b) => (`${a.url} ${a.methods}` < `${b.url} ${b.methods}` ? -1 : 1))
}

function row(call: string, tokens: string | null, { needs, acts, url }: Call): string {
  const accounts = needs === 'nothing' ? 'nobody yet' : accountsFor(needs, url)
  const cells = [`\`${call}\``, ...(tokens === null ? [] : [tokens]), accounts]
  return `| ${[...cells, acts.map(act => `\`${act}\``).join(', ')].join(' | ')} |`
}

function tokensFor({ needs, url }: Call): string {
  if (/^\/api\/webhooks\/gateway/.test(url)) return 'none'
  const { tokens } = NEEDS[needs]
  return tokens.length === 3 ? 'any' : [...tokens, 'without a role'].join(', ')
}

/** A call of the API whose account is not required may be made by the token alone. */
function accountsFor(needs: Needs, url: string): string {
  const { account, isPersonal } = NEEDS[needs]
  const enough = { viewer: 'any', operator: 'operator, admin', admin: 'admin' }[account]
  return url.startsWith('/console') || isPersonal ? enough : `none, ${enough}`
}
