import { sql } from 'kysely'
import t from 'tap'
import { withdrawStatement } from '../../../src/books/statements/withdraw-call.ts'
import { ACTS, type Act } from '../../../src/config/acts.ts'
import { newId } from '../../../src/ids.ts'
import { pauseLedger } from '../../../src/operations/pause/pause-ledger.ts'
import { deleteReference, putReference } from '../../../src/payments/references/reference-calls.ts'
import { retryRun } from '../../../src/portfolio/run/retry-run.ts'
import { startRun } from '../../../src/portfolio/run/start-run.ts'
import { discard } from '../../../src/portfolio/upload/discard.ts'
import { ADMIN, makeAccounts } from '../../support/accounts/admin.ts'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { STATEMENT_HEADER, uploadStatement } from '../../support/books/statements.ts'
import { lendersFile } from '../../support/config/lenders-file.ts'
import { loggedIn, type Seen, sendFile } from '../../support/console/console.ts'
import { clientData } from '../../support/ledger/loans.ts'
import { capturedA, eventA } from '../../support/payments/gateway-events.ts'
import { allSaved } from '../../support/payments/payments.ts'
import { AUTOMATIC, dispute, refund, withSigned } from '../../support/payments/reversals.ts'
import { uploadCsv } from '../../support/portfolio/migrate.ts'

/** Each act is asked for three times: for what somebody then approves, for what changes, and for what waits too long. */
const TIMES = ['once', 'changed', 'late'] as const
type Time = (typeof TIMES)[number]
type Row = {
  act: Act
  /** The action under which the audit has what is done. */
  action: string
  /** What the proposal shows of what it is about. */
  shows: object
  api?(time: Time): Promise<{ status: number; body: any }>
  form?(time: Time): Promise<Seen>
  change?(time: Time): Promise<unknown>
}

const SECOND = { username: 'uma.second', password: 'one more good pass phrase' }
const ASKER = { actor: 'somebody', caller: null, address: null, requestId: null }
const LENDERS = { once: 'LENDER_03', changed: 'LENDER_04', late: 'LENDER_05' }
const DAYS = { once: '2026-01-01', changed: '2026-01-02', late: '2026-01-03' }
const LOAN = { external_loan_id: 'L-1' }
const NOTE = { note: 'agreed' }
const MEMBERS = ['act', 'approval_id', 'expires_at', 'state', 'subject']
const newAccount = (time: Time) => ({
  username: `new.${time}`,
  password: 'an entirely new phrase',
  role: 'viewer',
})

const service = withSigned(
  await withApprovals(t, ACTS.join(), {
    CONSOLE_ENABLED: 'true',
    DOCS_ENABLED: 'true',
    LENDERS_FILE: lendersFile(t, { LENDER_02: { gateway_a: AUTOMATIC } }),
    S: 'secret',
  }),
)
const { db, url, call, admin, webhook } = service
await makeAccounts(db, { admin: SECOND })
const second = await service.login(SECOND)
const browse = await loggedIn(url, ADMIN)
const form = (path: string, fields: object = {}) =>
  browse(`/console/${path}`, fields as Record<string, string>)

await service.loan('L-1', { principal: 90_000 })
await arrangePayments()
await pauseLedger(db, { reason: 'nobody may try an operation', until: null }, ASKER)
const operations = await each(['resolve', 'cancel', 'list'], operation)
const migrations = await each(['run', 'retry', 'discard'], migration)
const statements = await each(['withdraw'], statement)
await each(['disable', 'unlock', 'reset'], account)
await each(['delete'], (_, time) => putReference(db, { ...order('delete', time), ...LOAN }, ASKER))
for (const time of TIMES) await callback(time)
const { paths } = (await call('GET', '/openapi.json')).body
const answers = paths['/api/approvals/{id}/approve'].post.responses

const ROWS: Record<string, Row> = {
  assign: { ...ofPayment('assign', 'payment.assign', LOAN), action: 'payment.assign' },
  post: ofPayment('post', 'payment.post', { ...LOAN, amount: 1_000, paid_on: '06 February 2026' }),
  handled: ofPayment('handled', 'payment.handled'),
  dismiss: ofPayment('dismiss', 'payment.dismiss'),
  reopen: { ...ofPayment('reopen', 'payment.reopen'), action: 'payment.reopen' },
  reverse: {
    ...ofPayment('reverse', 'payment.reverse'),
    action: 'payment.reverse',
    change: time => send({ ...refunded(time), account_id: 'acc_2' }),
  },
  restore: {
    ...ofPayment('restore', 'payment.restore'),
    action: 'payment.restore',
    change: time =>
      service.signed({ ...disputed('won', time, 'arbitration'), account_id: 'acc_2' }),
  },
  'a list of assignments': {
    act: 'bulk',
    action: 'payment.assign',
    shows: { count: 1, sum: '1000', currency: 'INR' },
    api: time =>
      admin.post('payments/assign', {
        assignments: [{ gateway: 'gateway_a', gateway_payment_id: `pay_list_${time}`, ...LOAN }],
      }),
    change: time => addEvent(`pay_list_${time}`),
  },
  'a bulk action': {
    act: 'bulk',
    action: 'bulk.start',
    shows: { count: 1, sum: '1000', currency: 'INR' },
    form: time =>
      form('bulk', { decision: 'payments.dismiss', lender: LENDERS[time], count: '1', ...NOTE }),
    change: time => send(capturedA({ id: `pay_more_${time}` }), LENDERS[time]),
  },
  'a list of operations': {
    act: 'bulk',
    action: 'operation.resolve',
    shows: { count: 1 },
    api: time =>
      admin.post('ledger/operations/resolve', {
        tracking_ids: [operations.list[time]],
        outcome: 'retry',
      }),
    change: time => tried(operations.list[time]),
  },
  'operation.resolve': ofOperation('resolve', { outcome: 'retry' }),
  'operation.cancel': ofOperation('cancel'),
  'ledger.pause': {
    act: 'ledger.pause',
    action: 'ledger.pause',
    shows: { paused: true, reason: /./ },
    api: time => admin.post('ledger/pause', { reason: `asked for ${time}` }),
    form: time => form('pause', { reason: `asked for ${time}` }),
    change: () => pauseLedger(db, { reason: 'another one', until: null }, ASKER),
  },
  run: {
    ...ofMigration('run', 'portfolio.run'),
    api: time => admin.post('migration/run', { migration_id: migrations.run[time] }),
    change: time => discard(db, migrations.run[time], ASKER),
  },
  retry: {
    ...ofMigration('retry', 'portfolio.run'),
    api: time => admin.post(`migration/${migrations.retry[time]}/retry`),
    change: time => retryRun(db, migrations.retry[time], ASKER),
  },
  discard: {
    ...ofMigration('discard', 'portfolio.discard'),
    api: time => admin.delete(`migration/${migrations.discard[time]}`),
    change: time => start(migrations.discard[time]),
  },
  'callback.replay': {
    act: 'callback.replay',
    action: 'callback.replay',
    shows: { callbacks: 1 },
    api: time => admin.post('callbacks/replay', windowOf(time)),
    form: time => form('callbacks/replay', windowOf(time)),
    change: callback,
  },
  'a reference': {
    act: 'reference.write',
    action: 'reference.put',
    shows: { periods: [] },
    api: time => put(time, { headers: admin.headers }),
    form: time => form('references/add', { ...order('put', time), ...LOAN }),
    change: time => putReference(db, { ...order('put', time), external_loan_id: 'L-other' }, ASKER),
  },
  'the removal of a reference': {
    act: 'reference.write',
    action: 'reference.delete',
    shows: { periods: [LOAN] },
    api: time => admin.delete(`references/gateway_a/order/order_delete_${time}`),
    form: time => form('references/remove', order('delete', time)),
    change: time => deleteReference(db, order('delete', time), ASKER),
  },
  'statement.withdraw': {
    act: 'statement.withdraw',
    action: 'statement.withdraw',
    shows: { file_name: 'statement.csv', lender: 'LENDER_02', is_withdrawn: false },
    api: time => admin.delete(`gateways/gateway_a/statements/${statements.withdraw[time]}`),
    form: time => form(`books/statements/${statements.withdraw[time]}/withdraw`),
    change: time => withdrawStatement(db, 'gateway_a', statements.withdraw[time], ASKER),
  },
  // There is nothing yet that could change.
  'account.register': {
    act: 'account.register',
    action: 'account.register',
    shows: { role: 'viewer' },
    api: time => admin.post('account/register', newAccount(time)),
    form: time => form('accounts', newAccount(time)),
  },
  'account.disable': ofAccount('disable'),
  'account.unlock': ofAccount('unlock'),
  'account.reset': ofAccount('reset'),
}

t.test('each act that APPROVALS can name is covered by this test', async t => {
  t.same(new Set(Object.values(ROWS).map(({ act }) => act)), new Set(ACTS))
})

for (const [name, { act, action, shows, ...row }] of Object.entries(ROWS))
  t.test(`${name} is proposed, and done once a second person approves`, async t => {
    const before = await effectsOf(action)
    const proposed = await (row.api ?? byForm)('once')
    t.match(proposed, { status: 202, body: { act, state: 'proposed', expires_at: /^20/ } })
    t.same(Object.keys(proposed.body).sort(), MEMBERS)
    const { approval_id: id } = proposed.body
    const { body } = await second.get(`approvals/${id}`)
    t.match(body, { act, subject: proposed.body.subject, proposed_by: ADMIN.username })
    t.match(body.facts, shows)
    t.match(await admin.approve(id), { status: 403, body: { code: 'OWN_PROPOSAL' } })
    t.same(await effectsOf(action), before, 'nothing is done yet')
    const { status } = await second.approve(id)
    t.ok(status < 300 && status in answers, `the contract has the answer ${status}`)
    t.match(await second.approve(id), { status: 409, body: { code: 'CONFLICT' } })
    const done = (await effectsOf(action)).slice(before.length)
    t.match(done, [
      { actor: ADMIN.username, detail: { approval_id: id, approved_by: SECOND.username } },
    ])
    t.equal(done.length, 1)

    async function byForm(time: Time) {
      return { status: 202, body: await fromForm(row, time) }
    }
  })

t.test('a proposal that nobody approved in time is refused as expired', async t => {
  const before = await effectsOf('')
  for (const [name, row] of Object.entries(ROWS)) {
    const { approval_id: id } = await fromForm(row, 'late')
    await sql`update loanops.approval set expires_at = now() where id = ${id}`.execute(db)
    t.match(await second.approve(id), { status: 409, body: { code: 'EXPIRED' } }, name)
  }
  t.same(await effectsOf(''), before, 'nothing is done')
})

t.test('a proposal of a form whose subject has changed is refused as stale', async t => {
  const changing = Object.entries(ROWS).filter(([, row]) => row.change !== undefined)
  const ids = new Map<string, string>()
  for (const [name, row] of changing) ids.set(name, (await fromForm(row, 'changed')).approval_id)
  for (const [, row] of changing) await row.change?.('changed')
  // A whole batch would wait for the paused ledger, and a resumed one would take the operations of other tests.
  await allSaved(db)
  for (const lender of ['lender_02', 'lender_04'])
    await sql`select core.transform(${`${lender}_gateway_a`}, 10000)`.execute(db)
  const before = await effectsOf('')
  for (const [name] of changing)
    t.match(
      await second.approve(ids.get(name) ?? ''),
      { status: 409, body: { code: 'STALE' } },
      name,
    )
  t.same(await effectsOf(''), before, 'nothing is done')
})

t.test('a file of references is refused as a whole', async t => {
  const csv = 'gateway,kind,value,external_loan_id\ngateway_a,order,order_of_file,L-1\n'
  const file = new File([csv], 'references.csv')
  const place = { page: '/console/references', path: '/console/references/upload' }
  t.equal((await sendFile({ url, operator: browse }, place, {}, file)).status, 409)
  const body = new FormData()
  body.set('file', file)
  const headers = { 'x-internal-token': 'token-for-tests-only', ...admin.headers }
  const sent = { method: 'POST', headers, body }
  t.equal((await fetch(`${url}/api/references/upload`, sent)).status, 409)
  const { body: found } = await admin.get('references?kind=order&limit=200')
  t.notMatch(JSON.stringify(found), /order_of_file/)
})

t.test('a dry run is no act, and needs nobody', async t => {
  const dry = await call('PUT', '/api/references/gateway_a/order/dry?dry_run=true', LOAN)
  t.match(dry, { status: 201, body: LOAN })
  const replay = await call('POST', '/api/callbacks/replay', { ...windowOf('late'), dry_run: true })
  t.match(replay, { status: 202, body: { callbacks: 1 } })
})

/**
 * The audited effects of this action; with '', of every act that a second person approved. What a worker does for the bulk
 * action is left out: another test may have started it.
 */
async function effectsOf(action: string) {
  const { rows } = await sql<object>`
    select actor, action, subject, detail from ops.audit
     where case when ${action} = '' then detail ? 'approved_by' else action = ${action} end
       and (subject like 'gateway_a/pay_bulk_%') is not true
     order by at, id`.execute(db)
  return rows
}

/** Proposes the act by the console's form, or where it has none, by the API. @returns the proposal */
async function fromForm({ form, api }: Pick<Row, 'form' | 'api'>, time: Time) {
  if (form === undefined) return (await api?.(time))?.body
  const { status, headers } = await form(time)
  if (status !== 303) throw new Error(`a form was answered with ${status}`)
  const { text: page } = await browse(headers.get('location') ?? '')
  if (!/Sent for approval/.test(page)) throw new Error('the page does not say so')
  const { approvals } = (await second.get('approvals?limit=1')).body
  const { approval_id, act, subject, state, expires_at } = approvals[0]
  return { approval_id, act, subject, state, expires_at }
}

async function each<Name extends string, Made>(
  names: Name[],
  make: (name: Name, time: Time) => Promise<Made>,
) {
  const made = {} as Record<Name, Record<Time, Made>>
  for (const name of names) {
    made[name] = {} as Record<Time, Made>
    for (const time of TIMES) made[name][time] = await make(name, time)
  }
  return made
}

function send(event: object, lender = 'LENDER_02') {
  return webhook('gateway_a', event, { lender })
}

function addEvent(id: string) {
  return send(eventA('order.paid', { id, account: 'acc_2' }))
}

async function arrangePayments(): Promise<void> {
  for (const time of TIMES) {
    for (const name of ['assign', 'post', 'handled', 'dismiss', 'reopen', 'list'])
      await send(capturedA({ id: `pay_${name}_${time}` }))
    await send(capturedA({ id: `pay_bulk_${time}` }), LENDERS[time])
    for (const name of ['reversed', 'restored'])
      await send(capturedA({ id: `pay_${name}_${time}`, loan: 'L-1' }))
  }
  await service.batch()
  for (const time of TIMES) {
    await send(refunded(time))
    await service.signed(disputed('lost', time))
    await sql`
      update core.transaction set decision = 'dismiss', state = 'dismissed', reason = null
       where gateway_payment_id = ${`pay_reopen_${time}`}`.execute(db)
  }
  await service.batch()
  for (const time of TIMES) await service.signed(disputed('won', time, 'arbitration'))
  await service.batch()
}

function refunded(time: Time) {
  return refund({ id: `pay_reverse_${time}`, of: `pay_reversed_${time}` })
}

function disputed(status: string, time: Time, phase = 'chargeback') {
  return dispute(status, { id: `pay_restore_${time}`, of: `pay_restored_${time}`, phase })
}

function ofPayment(name: string, act: Act, more: object = {}): Row {
  const call = name === 'assign' ? 'assign' : 'resolve'
  const path = (time: Time) => `payments/gateway_a/pay_${name}_${time}/${call}`
  const asked = call === 'assign' ? more : { outcome: name, ...more, ...NOTE }
  return {
    act,
    action: 'payment.resolve',
    shows: { amount: '1000', events: Number, state: /./ },
    api: time => admin.post(path(time), asked, { 'if-match': '*' }),
    form: time => form(path(time), { ...asked, if_match: '*' }),
    change: time => addEvent(`pay_${name}_${time}`),
  }
}

async function operation(name: string, time: Time): Promise<string> {
  const data = clientData(`C-${name}-${time}`)
  const { body } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
  if (name !== 'cancel') await tried(body.tracking_id, 'ledger_approval')
  return body.tracking_id
}

async function tried(trackingId: string, waitingFor = 'ledger_busy') {
  await sql`
    update loanops.operation set attempts = 1, waiting_for = ${waitingFor}
     where id = ${trackingId.split('|')[1]}`.execute(db)
}

function ofOperation(name: 'resolve' | 'cancel', asked: object = {}): Row {
  const act = `operation.${name}` as const
  const path = (time: Time) => `operations/${encodeURIComponent(operations[name][time])}/${name}`
  return {
    act,
    action: act,
    shows: { status: 'processing', external_id: /^C-/ },
    api: time => admin.post(`ledger/${path(time)}`, asked),
    form: time => form(path(time), asked),
    change: time => tried(operations[name][time]),
  }
}

async function migration(name: string, time: Time): Promise<string> {
  const header = 'loan_external_id,transaction_date,amount,payment_reference,gateway,note'
  const csv = `${header}\nL-1,01 February 2026,100.00,REF-${name}-${time},,`
  const { migration_id: id } = (await uploadCsv({ url }, 'repayments', csv)).body
  if (name === 'retry')
    await sql`update loanops.migration set status = 'cancelled' where id = ${id}`.execute(db)
  return id
}

function start(migrationId: string) {
  const how = { isDryRun: false, skipInvalid: false, after: [] }
  return startRun(db, { migrationId, ...how }, ASKER)
}

function ofMigration(name: 'run' | 'retry' | 'discard', act: Act): Row {
  return {
    act,
    action: `migration.${name}`,
    shows: { type: 'repayments', valid_rows: 1, file_name: 'repayments.csv' },
    form: time => form(`portfolio/${migrations[name][time]}/${name}`),
  }
}

async function callback(time: Time): Promise<void> {
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, state, sequence, body, created_at)
    values ('operation.succeeded', 'loan:L-1', ${newId()}, now(), 'failed',
            (select coalesce(max(sequence), 0) + 1 from loanops.callback), '{}', ${DAYS[time]})`.execute(
    db,
  )
}

function windowOf(time: Time) {
  return { from: `${DAYS[time]}T00:00:00Z`, to: `${DAYS[time]}T12:00:00Z` }
}

function order(name: string, time: Time) {
  return { gateway: 'gateway_a', kind: 'order', value: `order_${name}_${time}` } as const
}

function put(time: Time, { headers }: { headers: Record<string, string> }) {
  return call('PUT', `/api/references/gateway_a/order/order_put_${time}`, LOAN, headers)
}

async function statement(_: string, time: Time): Promise<string> {
  const row = `pay_of_${time},1000.00,INR,captured,2026-02-05T10:00:00+05:30,,,,,`
  const path = 'gateway_a/statement?lender=LENDER_02'
  return (await uploadStatement(url, path, `${STATEMENT_HEADER}\n${row}\n`)).body.statement_id
}

async function account(name: string, time: Time): Promise<void> {
  await makeAccounts(db, { viewer: { ...SECOND, username: `${name}.${time}` } })
}

function ofAccount(name: 'disable' | 'unlock' | 'reset'): Row {
  const act = `account.${name}` as const
  return {
    act,
    action: act,
    shows: { role: 'viewer', disabled_at: null },
    api: time => admin.post(`account/${name}.${time}/${name}`),
    form: time => form(`accounts/${name}.${time}/${name}`),
    // A change of its password does this.
    change: time =>
      sql`update loanops.account set token_generation = token_generation + 1 where username = ${`${name}.${time}`}`.execute(
        db,
      ),
  }
}
