import fc from 'fast-check'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { type Account, findAccount } from '../../../src/accounts/account.ts'
import type { ActCall } from '../../../src/accounts/approvals/act-call.ts'
import { approve, turnDown } from '../../../src/accounts/approvals/decide.ts'
import { perform } from '../../../src/accounts/approvals/perform.ts'
import { disableAccount } from '../../../src/accounts/change-account.ts'
import { newId } from '../../../src/ids.ts'
import { paymentCalls } from '../../../src/payments/decisions/payment-calls.ts'
import { capturedA, eventA } from '../../support/payments/gateway-events.ts'
import { sourceOf } from '../../support/payments/source.ts'

const person = fc.nat({ max: 3 })
const payment = fc.nat({ max: 1 })
const which = fc.nat({ max: 5 })
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('propose' as const),
      person,
      payment,
      outcome: fc.constantFrom('assign', 'dismiss', 'handled', 'reopen') as fc.Arbitrary<
        'assign' | 'dismiss'
      >,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('approve' as const),
      // Two at once, perhaps of two proposals.
      by: fc.array(fc.record({ person, which }), { minLength: 1, maxLength: 2 }),
      isKilled: fc.boolean(),
    }),
  },
  fc.record({ does: fc.constantFrom('reject' as const, 'withdraw' as const), person, which }),
  fc.record({ does: fc.constant('expire' as const), which }),
  fc.record({ does: fc.constant('event' as const), payment }),
  fc.record({ does: fc.constant('disable' as const), person }),
)

/** Random steps may miss one of the ends that the test counts. */
const EVERY_END: Step[] = [
  { does: 'propose', person: 0, payment: 0, outcome: 'assign' },
  { does: 'event', payment: 0 },
  // Stale.
  { does: 'approve', by: [{ person: 1, which: 0 }], isKilled: false },
  { does: 'propose', person: 0, payment: 1, outcome: 'dismiss' },
  { does: 'approve', by: [{ person: 0, which: 1 }], isKilled: false },
  { does: 'approve', by: [{ person: 1, which: 1 }], isKilled: true },
  { does: 'expire', which: 1 },
  { does: 'propose', person: 0, payment: 1, outcome: 'dismiss' },
  // Raced: two approve at once.
  {
    does: 'approve',
    by: [
      { person: 1, which: 2 },
      { person: 1, which: 2 },
    ],
    isKilled: false,
  },
]

type Proposed = { id: string; by: number; payment: number; version: number; ended: string | null }
type Effect = { actor: string; approval_id: string; approved_by: string }
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
type Of<Does> = Extract<Step, { does: Does }>
/** What one run of random acts has done so far. */
type Run = {
  number: number
  people: number
  versions: number[]
  disabled: Set<number>
  proposals: Proposed[]
}

const { db, save, transform } = await sourceOf(t, 'gateway_a')
const ACTS = ['payment.assign', 'payment.dismiss', 'payment.handled', 'payment.reopen'] as const
const config = { APPROVALS: ACTS.map(act => ({ act, above: null })), APPROVAL_TTL_HOURS: 1 }
const log = { error: () => undefined }
const { assignCall, resolveCall } = paymentCalls({
  db,
  boss: {} as never,
  ledger: {} as never,
  config: {} as never,
  log,
})
let isKilled = false
/** Its connection dies after the act, before the commit. */
const mortal = (call: ActCall<any, any, any>) => ({
  ...call,
  async act(...given: Parameters<typeof call.act>) {
    const done = await call.act(...given)
    if (isKilled) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(given[0])
    return done
  },
})
const context = { db, calls: [assignCall, resolveCall].map(mortal) }
const seen = { approved: 0, stale: 0, own: 0, killed: 0, expired: 0, raced: 0 }
let runs = 0

t.test('random acts of two to four people hold every promise of four eyes', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 4 }),
      fc.array(step, { minLength: 4, maxLength: 14 }),
      async (people, steps) => {
        const run = await begun(people)
        for (const one of steps) {
          if (one.does === 'propose') await propose(run, one)
          else if (one.does === 'approve') await approveAll(run, one)
          else if (one.does === 'event') await addEvent(run, one)
          else if (one.does === 'disable') await disable(run, one)
          else if (one.does === 'expire') await expire(run, one)
          else await end(run, one)
        }
        await verify(t, run, JSON.stringify(steps))
      },
    ),
    { numRuns: 60, examples: [[2, EVERY_END]] },
  )
  for (const [what, times] of Object.entries(seen)) t.ok(times > 0, `${what}: ${times}`)
})

async function begun(people: number): Promise<Run> {
  const run = {
    number: ++runs,
    people,
    versions: [0, 0],
    disabled: new Set<number>(),
    proposals: [],
  }
  for (let one = 0; one < people; one++)
    await sql`
      insert into loanops.account (id, username, password_hash, role)
      values (${newId()}, ${nameOf(run, one)}, 'x', ${one === 0 ? 'admin' : 'operator'})`.execute(
      db,
    )
  for (const one of run.versions.keys()) await save(capturedA({ id: idOf(run, one) }))
  await transform()
  return run
}

const nameOf = ({ number, people }: Run, one: number) => `p${number}.${one % people}`
const idOf = ({ number }: Run, one: number) => `pay_${number}_${one}`
/** Some spell their name otherwise. */
function askerOf(run: Run, one: number) {
  const name = nameOf(run, one)
  const actor = one % 3 === 0 ? name : name.toUpperCase()
  return { actor, caller: null, address: null, requestId: null }
}
const chosen = ({ proposals }: Run, which: number) =>
  proposals[which % Math.max(proposals.length, 1)]
const change = ({ versions }: Run, one: number) => {
  versions[one] = (versions[one] ?? 0) + 1
}

async function propose(run: Run, { person, payment, outcome }: Of<'propose'>) {
  const named = { gateway: 'gateway_a', gateway_payment_id: idOf(run, payment) }
  const asker = askerOf(run, person)
  const made = await (outcome === 'assign'
    ? perform({ db, config }, assignCall, { asker, request: { ...named, external_loan_id: 'L-1' } })
    : perform({ db, config }, resolveCall, { asker, request: { ...named, outcome, note: 'why' } })
  ).catch(expected)
  if (made === undefined) return
  if (!('proposal' in made)) throw new Error('done without a second person')
  const by = person % run.people
  if (run.disabled.has(by)) throw new Error('proposed though disabled')
  const version = run.versions[payment] ?? 0
  run.proposals.push({ id: made.proposal.approval_id, by, payment, version, ended: null })
}

async function approveAll(run: Run, { by, isKilled: kill }: Of<'approve'>) {
  const tried = by.flatMap(({ person, which }) => {
    const of = chosen(run, which)
    return of === undefined ? [] : [{ person: person % run.people, of }]
  })
  isKilled = kill
  const ends = await Promise.all(
    tried.map(({ person, of }) =>
      approve(context, { id: of.id, asker: askerOf(run, person) }).then(
        () => 'approved',
        (error: { code?: string }) => error.code ?? String(error),
      ),
    ),
  )
  isKilled = false
  const won = tried.filter((_, i) => ends[i] === 'approved')
  if (tried.length === 2 && won.length > 0) seen.raced++
  for (const one of won) count(run, one)
  for (const [i, { person, of }] of tried.entries()) {
    if (ends[i] === 'OWN_PROPOSAL') seen.own++
    if (ends[i] === 'STALE') {
      seen.stale++
      of.ended ??= 'stale'
    }
    const isOpen = of.ended === null && of.version === run.versions[of.payment]
    if (!isOpen || of.by === person || run.disabled.has(person)) continue
    if (!kill) throw new Error(`not approved: ${ends[i]}`)
    seen.killed++
  }
}

function count(run: Run, { person, of }: { person: number; of: Proposed }) {
  if (of.ended !== null) throw new Error(`approved though ${of.ended}`)
  if (of.by === person) throw new Error('approved by its own proposer')
  if (run.disabled.has(person)) throw new Error('approved though disabled')
  if (of.version !== run.versions[of.payment]) throw new Error('approved on changed facts')
  seen.approved++
  of.ended = 'approved'
  change(run, of.payment)
}

async function addEvent(run: Run, { payment }: Of<'event'>) {
  await save(eventA('order.paid', { id: idOf(run, payment), account: `acc_${newId()}` }))
  await transform()
  change(run, payment)
}

async function disable(run: Run, { person }: Of<'disable'>) {
  const username = nameOf(run, person)
  // The last administrator cannot be disabled.
  const isDone = await disableAccount(
    db,
    askerOf(run, 0),
    (await findAccount(db, username)) as Account,
  ).then(() => true, refused)
  if (!isDone) return
  run.disabled.add(person % run.people)
  for (const open of run.proposals)
    if (open.by === person % run.people && open.ended === null) open.ended = 'withdrawn'
}

async function expire(run: Run, { which }: Of<'expire'>) {
  const found = chosen(run, which)
  if (found === undefined || found.ended !== null) return
  await sql`
    update loanops.approval set expires_at = now() - interval '1 second'
     where id = ${found.id}`.execute(db)
  seen.expired++
  found.ended = 'expired'
}

async function end(run: Run, { does, which, person }: Of<'reject' | 'withdraw'>) {
  const found = chosen(run, which)
  if (found === undefined) return
  const by = person % run.people
  const decision = { id: found.id, asker: askerOf(run, person) }
  const state = does === 'reject' ? 'rejected' : 'withdrawn'
  const isDone = await turnDown(db, state, decision).then(() => true, refused)
  const may =
    found.ended === null && !run.disabled.has(by) && (does === 'reject' || found.by === by)
  if (isDone !== may) throw new Error(`${does}: ${isDone}`)
  if (isDone) found.ended = state
}

/** What the database says in the end: each approval has one effect, and there is no effect without one. */
async function verify(t: Test, run: Run, steps: string) {
  const { rows: effects } = await sql<Effect>`
    select actor, detail ->> 'approval_id' as approval_id, detail ->> 'approved_by' as approved_by from ops.audit
     where action in ('payment.assign', 'payment.resolve', 'payment.reopen')
       and subject in (${sql.join([0, 1].map(one => `gateway_a/${idOf(run, one)}`))})`.execute(db)
  const approved = run.proposals.filter(({ ended }) => ended === 'approved')
  const ids = (all: { id: string }[]) => all.map(({ id }) => id).sort()
  t.same(ids(effects.map(one => ({ id: one.approval_id }))), ids(approved), steps)
  for (const { actor, approved_by } of effects)
    t.not(actor.toLowerCase(), approved_by.toLowerCase(), 'two persons')
  const { rows } = await sql<{ id: string; state: string }>`
    select approval_id as id, state from ops.approval where lower(proposed_by) like ${`p${run.number}.%`}`.execute(
    db,
  )
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  t.equal(rows.length, run.proposals.length, 'no proposal is lost')
  for (const { id, ended } of run.proposals) t.equal(states.get(id), ended ?? 'proposed')
}

/** Refusals are part of the game; anything else is not. */
function expected(error: { statusCode?: number }): undefined {
  if ((error.statusCode ?? 500) >= 500) throw error
}
function refused(error: { statusCode?: number }): boolean {
  expected(error)
  return false
}
