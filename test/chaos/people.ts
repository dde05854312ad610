import { setTimeout as sleep } from 'node:timers/promises'
import { fastify } from 'fastify'
import { sql } from 'kysely'
import { readAccount } from '../../src/accounts/account.ts'
import { approvalsFeature } from '../../src/accounts/approvals/approvals-feature.ts'
import { registerAccount } from '../../src/accounts/register.ts'
import { accessTokens, issueToken } from '../../src/accounts/tokens/access-token.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { caller, testEnv } from '../support/service.ts'
import { type Cluster, runningApi } from './cluster.ts'
import { POINTS } from './havoc.ts'

/** What the operators do, and who cancels rows. */
const APPROVALS =
  'payment.assign,payment.post,payment.handled,payment.dismiss,payment.reopen,operation.cancel'
const PEOPLE = ['meera', 'john', 'asha.rao']
/** Some proposals wait this long at most, so that their facts change, and some are left to others. */
const WAITS_MS = 2_000
const WAITS = 0.3
const LEFT = 0.1
const PATIENCE_MS = 5_000
const ASK_EVERY_MS = 50

/** Does an act that a person decides on. @returns the status of the answer */
export type Decide = (path: string, body?: object) => Promise<number>

export type Deciders = {
  settings: NodeJS.ProcessEnv
  /** The crash points at which processes die. */
  points: string[]
  /** How long they decide about what is posted. */
  decideForMs: number
  gather(cluster: Cluster, db: Database, draw: () => number): Promise<Gathered>
}
type Gathered = { decide: Decide; judge(): Promise<{ isHeld: boolean }> }

/** Nobody but the token, which decides alone. */
export const onlyToken: Deciders = {
  settings: {},
  points: POINTS,
  decideForMs: 15_000,
  gather: async ({ places }) => ({
    decide: async (path, body) => (await runningApi(places)('POST', path, body)).status,
    judge: async () => ({ isHeld: true }),
  }),
}

/** One of them proposes, and all approve at once, the proposer too. */
export const people: Deciders = {
  settings: { APPROVALS },
  points: POINTS.flatMap((point, i) => [
    point,
    ...approvalsFeature.crashPoints.slice(i % 3, (i % 3) + 1),
  ]),
  decideForMs: 60_000,
  gather,
}

async function gather({ places, databaseUrl }: Cluster, db: Database, draw: () => number) {
  const bearers = await bearersOf(db, databaseUrl)
  const acknowledged = new Set<string>()
  const answers: Record<string, number> = {}
  const decide: Decide = async (path, body) => {
    const { status, body: proposed } = await ask('POST', path, any(bearers), body)
    // An earlier proposal whose answer was lost is in the way.
    const id = status === 202 ? proposed.approval_id : await anyOpen()
    if (id === undefined || draw() < LEFT) return 409
    if (draw() < WAITS) await sleep(draw() * WAITS_MS)
    return approveAtOnce(id)
  }
  return { decide, judge: async () => ({ answers, ...(await judge(db, acknowledged)) }) }

  async function approveAtOnce(id: string): Promise<number> {
    const all = await Promise.all(
      bearers.map(one =>
        ask('POST', `/api/approvals/${id}/approve`, one, { note: 'chaos' }).catch(() => undefined),
      ),
    )
    for (const answer of all) {
      const isDone = answer !== undefined && answer.status < 300
      if (isDone) acknowledged.add(id)
      const how = isDone ? 'done' : (answer?.body.code ?? 'lost')
      answers[how] = (answers[how] ?? 0) + 1
    }
    return all.find(answer => answer !== undefined && answer.status < 300)?.status ?? 409
  }

  async function anyOpen(): Promise<string | undefined> {
    const { body } = await ask('GET', '/api/approvals?state=proposed', any(bearers))
    return any<{ approval_id: string }>(body.approvals)?.approval_id
  }

  function any<T>(list: T[]): T {
    return list[Math.floor(draw() * list.length)] as T
  }

  async function ask(method: string, path: string, authorization: string, body?: object) {
    const up = () => places.filter(({ role, isUp }) => role === 'api' && isUp)
    while (up().length === 0) await sleep(ASK_EVERY_MS)
    const { url } = any(up())
    const headers = { authorization, 'if-match': '*' }
    const patience = sleep(PATIENCE_MS).then(() => {
      throw new Error('no answer')
    })
    return Promise.race([caller(url)(method, path, body, headers), patience])
  }
}

async function bearersOf(db: Database, databaseUrl: string): Promise<string[]> {
  const app = fastify()
  const aDay = { JWT_TTL_SECONDS: '43200' }
  const config = readConfig(testEnv(databaseUrl, 'http://127.0.0.1/api/v1', aDay))
  await app.register(accessTokens(db, config))
  const asker = { actor: 'chaos', caller: null, address: null, requestId: null }
  const bearers: string[] = []
  for (const username of PEOPLE) {
    await registerAccount(db, asker, { username, passwordHash: null, role: 'operator' })
    bearers.push(`Bearer ${issueToken(app, await readAccount(db, username))}`)
  }
  return bearers
}

/** What became of the proposals; all of `wrong` must be 0. */
async function judge(db: Database, acknowledged: Set<string>) {
  const { rows: states } = await sql<{ state: string; count: number }>`
    select state, count(*)::integer as count from ops.approval group by state
     order by state`.execute(db)
  const { rows } = await sql<Record<'alone' | 'twice' | 'changed' | 'lost' | 'denied', number>>`
    with effect as (
      select actor, detail, detail ->> 'approval_id' as approval_id from ops.audit
       where action in ('payment.assign', 'payment.resolve', 'payment.reopen', 'operation.cancel')
    ), judged as (
      select a.*, e.actor, e.detail, e.actor is not null as is_done
        from effect e full join loanops.approval a on a.id::text = e.approval_id
    )
    select (count(*) filter (where is_done and (id is null or actor <> proposed_by or decided_by is distinct from detail ->> 'approved_by'
                                                or lower(actor) = lower(decided_by))))::integer as alone,
           (count(*) filter (where is_done) - count(distinct id) filter (where is_done))::integer as twice,
           (count(*) filter (where is_done and detail ? 'before' and
             (facts ->> 'reason', facts ->> 'external_loan_id', coalesce(detail ->> 'state', facts ->> 'state'))
             is distinct from (detail ->> 'reason', detail ->> 'before', facts ->> 'state')))::integer as changed,
           (count(*) filter (where is_done is distinct from (state = 'approved')))::integer as lost,
           (count(*) filter (where id = any(${[...acknowledged]}::uuid[]) and state <> 'approved'))::integer as denied
      from judged`.execute(db)
  const wrong = rows[0] ?? { alone: -1, twice: -1, changed: -1, lost: -1, denied: -1 }
  const isHeld = Object.values(wrong).every(count => count === 0)
  return { isHeld, wrong, states: Object.fromEntries(states.map(one => [one.state, one.count])) }
}
