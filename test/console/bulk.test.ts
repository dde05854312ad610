import { sql } from 'kysely'
import pg from 'pg'
import t, { type Test } from 'tap'
import { bulkFeature } from '../../src/console/bulk/bulk-feature.ts'
import { OPERATOR } from '../support/accounts/admin.ts'
import { type ConsoleService, startWithConsole } from '../support/console/console.ts'
import { clientData } from '../support/ledger/loans.ts'
import { crashPointsIn, startProcessFor } from '../support/process.ts'
import { testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const OPERATIONS = 12
const WANTED = { decision: 'operations.cancel', operation_type: 'CLIENT_CREATE' }

t.test('a decision about many acts once on each, wherever its worker dies', async t => {
  const service = await withUntried(t)
  const path = await confirmed(service)
  for (const point of bulkFeature.crashPoints) {
    const doomed = worker(t, service, `${point}:3`)
    await doomed.ended
    t.same(crashPointsIn(doomed.said), [point])
  }
  worker(t, service)
  await completed(service, path)
  t.same(await outcomes(service), { done: OPERATIONS, refused: 0, audited: OPERATIONS })
})

const LOCKED = {
  'row that another worker is deciding': 'loanops.bulk_item order by number',
  'operation that something else has locked': 'loanops.operation',
}
for (const [what, rows] of Object.entries(LOCKED))
  t.test(`one ${what} holds up no other row of a bulk decision`, async t => {
    const service = await withUntried(t)
    const path = await confirmed(service)
    // Our session, unlike a frozen worker's, keeps the row however long the worker takes to start.
    const client = new pg.Client(service.databaseUrl)
    await client.connect()
    t.teardown(() => client.end())
    await client.query('begin')
    await client.query(`select from ${rows} limit 1 for update`)
    worker(t, service)
    await until(async () => (await outcomes(service)).done === OPERATIONS - 1, 'all others')
    await client.query('commit')
    await completed(service, path)
    t.same(await outcomes(service), { done: OPERATIONS, refused: 0, audited: OPERATIONS })
  })

t.test('a row is decided once although its worker freezes in the middle', async t => {
  const service = await withUntried(t)
  const path = await confirmed(service)
  const frozen = await frozenWorker(t, service)
  worker(t, service)
  // PostgreSQL ends a frozen transaction after 10 s, so the last row may be decided too before we look.
  await until(async () => (await outcomes(service)).done >= OPERATIONS - 1, 'all others')
  frozen.child.kill('SIGCONT')
  await completed(service, path)
  t.same(await outcomes(service), { done: OPERATIONS, refused: 0, audited: OPERATIONS })
})

t.test('a bulk decision that is stopped decides about no further row', async t => {
  const service = await withUntried(t)
  const path = await confirmed(service)
  const frozen = await frozenWorker(t, service)
  t.equal((await service.operator(`${path}/stop`, {})).status, 303)
  frozen.child.kill('SIGCONT')
  await frozen.kill('SIGTERM')
  t.same(await outcomes(service), { done: 2, refused: 0, audited: 2 })
  t.match((await service.operator(path)).text, /stopped/)
})

t.test('a filter of the other list is refused rather than ignored', async t => {
  const { operator, viewer } = await startWithConsole(t, { ROLE: 'api' })
  for (const wanted of [
    { decision: 'payments.dismiss', note: 'x', external_id: 'L-1' },
    { decision: 'operations.failed', lender: 'LENDER_02' },
  ]) {
    const { status, text } = await viewer(`/console/bulk?${new URLSearchParams(wanted)}`)
    t.equal(status, 400)
    t.match(text, /is not a known field/)
    t.equal((await operator('/console/bulk', { ...wanted, count: '0', digest: '' })).status, 400)
  }
})

type Service = Awaited<ReturnType<typeof withUntried>>

const ENDINGS = {
  'is disabled': ({ admin }: Service) =>
    admin(`/console/accounts/${OPERATOR.username}/disable`, {}),
  'is now a viewer': ({ db }: Service) =>
    sql`
      update loanops.account set role = 'viewer' where username = ${OPERATOR.username}`.execute(db),
}

for (const [standing, end] of Object.entries(ENDINGS)) {
  t.test(`once its author’s account ${standing}, a decision stops and says why`, async t => {
    const service = await withUntried(t)
    const path = await confirmed(service)
    const frozen = await frozenWorker(t, service)
    await end(service)
    frozen.child.kill('SIGCONT')
    const ended = await until(async () => {
      const { text } = await service.admin(path)
      return /<dd>(stopped|completed)/.test(text) && text
    }, 'it has ended')
    t.match(ended, new RegExp(`stopped.*Stopped: the account asha\\.rao ${standing}`, 's'))
    t.same(await outcomes(service), { done: 2, refused: 1, audited: 2 })
  })
}

t.test('a confirmation that is sent twice is one decision', async t => {
  const service = await withUntried(t)
  const form = await confirmation(service)
  const [first, second] = await Promise.all([
    service.operator('/console/bulk', form),
    service.operator('/console/bulk', form),
  ])
  t.equal(first.headers.get('location'), second.headers.get('location'))
  const { rows } = await sql`select from loanops.bulk`.execute(service.db)
  t.equal(rows.length, 1)
  const { rows: audits } = await sql`
    select from ops.audit where action = 'bulk.start'`.execute(service.db)
  t.equal(audits.length, 1)
})

t.test('a confirmation sent again after a login shows the decision that it made', async t => {
  const service = await withUntried(t)
  const { form_token: _, ...form } = await confirmation(service)
  const first = await service.operator('/console/bulk', form)
  const again = await service.operator('/console/bulk', form)
  t.match(first.headers.get('location'), `/console/bulk/${form.id}`)
  t.equal(again.headers.get('location'), first.headers.get('location'))
  for (const [browse, other] of [
    [service.operator, { decision: 'operations.retry' }],
    [service.operator, { operation_type: 'LOAN_CREATE' }],
    [service.admin, {}],
  ] as const)
    t.match(await browse('/console/bulk', { ...form, ...other }), {
      status: 409,
      text: /This form was sent before/,
    })
})

t.test('a decision is refused when as many, but others, match than were counted', async t => {
  const service = await withUntried(t)
  const form = await confirmation(service)
  const { body } = await service.call('GET', '/api/ledger/operations?external_id=C-1')
  const [{ tracking_id }] = body.operations
  await service.operator(`/console/operations/${encodeURIComponent(tracking_id)}/cancel`, {})
  await submit(service, OPERATIONS)
  t.match(await service.operator('/console/bulk', form), {
    status: 409,
    text: /have changed since you looked/,
  })
})

t.test('an item that cannot be decided is refused, and holds up no other', async t => {
  const service = await withUntried(t)
  await sql`
    create function fail_one() returns trigger language plpgsql as $$ begin
      raise exception 'it cannot be stored'; end $$`.execute(service.db)
  await sql`
    create trigger fail_one before update of status on loanops.operation
      for each row when (new.external_id = 'C-0') execute function fail_one()`.execute(service.db)
  const path = await confirmed(service)
  worker(t, service)
  await completed(service, path)
  t.same(await outcomes(service), { done: OPERATIONS - 1, refused: 1, audited: OPERATIONS - 1 })
  t.match((await service.operator(path)).text, /Internal error; see the log/)
})

t.test('a decision whose transaction is rolled back is not counted', async t => {
  const service = await withUntried(t, { ROLE: 'all' })
  await sql`create sequence loanops.tries`.execute(service.db)
  // A sequence counts on after a rollback.
  await sql`
    create function fail_once() returns trigger language plpgsql security definer as $$ begin
      if nextval('loanops.tries') = 1 then raise exception 'not yet'; end if; return new; end $$`.execute(
    service.db,
  )
  await sql`
    create trigger fail_once before update on loanops.bulk_item
      for each row execute function fail_once()`.execute(service.db)
  await completed(service, await confirmed(service))
  const { body } = await service.call('GET', '/metrics')
  const ended = 'loanops_operations_total{operation_type="CLIENT_CREATE",status="failed"}'
  t.match(body, `${ended} ${OPERATIONS}\n`)
})

/** Operations that nobody has attempted, because the ledger is paused; the service itself works on nothing. */
async function withUntried(t: Test, changes: NodeJS.ProcessEnv = {}): Promise<ConsoleService> {
  const service = await startWithConsole(t, { ROLE: 'api', ...changes })
  await service.operator('/console/pause', { reason: 'maintenance' })
  for (let n = 0; n < OPERATIONS; n++) await submit(service, n)
  return service
}

async function submit({ call }: ConsoleService, n: number) {
  await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data: clientData(`C-${n}`) })
}

/** The fields of the form that asks for the confirmation. */
async function confirmation({ operator }: ConsoleService): Promise<Record<string, string>> {
  const { text } = await operator(`/console/bulk?${new URLSearchParams(WANTED)}`)
  const fields = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}

/** @returns the path of its progress */
async function confirmed(service: ConsoleService): Promise<string> {
  const form = await confirmation(service)
  return (await service.operator('/console/bulk', form)).headers.get('location') ?? ''
}

function worker(t: Test, { databaseUrl, ledger }: ConsoleService, point = '') {
  return startProcessFor(t, 'worker', testEnv(databaseUrl, ledger.url, { LOANOPS_CRASH_AT: point }))
}

/** A worker that freezes in the middle of its second decision. */
async function frozenWorker(t: Test, service: ConsoleService) {
  const frozen = worker(t, service, 'bulk.decided:2:SIGSTOP')
  await until(async () => crashPointsIn(frozen.said).length > 0, 'it is frozen')
  return frozen
}

const completed = ({ operator }: ConsoleService, path: string) =>
  until(async () => (await operator(path)).text.includes('completed'), 'it is completed')

async function outcomes({ db }: ConsoleService) {
  const { rows } = await sql<object>`
    select (count(*) filter (where outcome = 'done'))::integer as done,
           (count(*) filter (where outcome = 'refused'))::integer as refused,
           (select count(*)::integer from ops.audit where action = 'operation.cancel') as audited
      from loanops.bulk_item`.execute(db)
  return rows[0] as { done: number; refused: number; audited: number }
}
