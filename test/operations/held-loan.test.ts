import { sql } from 'kysely'
import t from 'tap'
import { MAX_CONCURRENT_GROUPS } from '../../src/database/group-commit/group-commit.ts'
import { LOCKS } from '../../src/database/locks.ts'
import { approval, clientData, loanData } from '../support/ledger/loans.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const OTHERS = 4

/** What another transaction does that writes operations of this name, until it is released. */
async function hold({ db }: TestService, name: string): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const transaction = db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(${LOCKS.intake}, hashtext(${name}))`.execute(trx)
    held.resolve()
    await ended.promise
  })
  await held.promise
  return async () => {
    ended.resolve()
    await transaction
  }
}

const operate = ({ call }: TestService, status: string, data: object) =>
  call('POST', '/api/ledger/operate', { status, data })

/** Waits until a group of operations was tried once more, with those that are held among them. */
async function triedAgain({ call }: TestService): Promise<void> {
  const tries = async () => {
    const { body } = await call('GET', '/metrics')
    return Number(/^loanops_commit_wait_seconds_count\{of="intake"\} (\d+)/m.exec(body)?.[1] ?? 0)
  }
  const before = await tries()
  await until(async () => (await tries()) > before, 'a group is tried')
}

t.test('operations on others are accepted while one waits for its client', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const release = await hold(service, 'client:C-1')
  let isAnswered = false
  const held = [
    operate(service, 'CLIENT_CREATE', clientData('C-1')),
    operate(service, 'LOAN_CREATE', loanData('L-1', 'C-1')),
  ]
  void Promise.race(held).then(() => {
    isAnswered = true
  })
  const others = await Promise.all(
    Array.from({ length: OTHERS }, (_, n) =>
      operate(service, 'CLIENT_CREATE', clientData(`C-other-${n}`)),
    ),
  )
  t.ok(others.every(({ status }) => status === 202))
  t.notOk(isAnswered, 'it waits')
  await release()
  for (const { status } of await Promise.all(held)) t.equal(status, 202)
})

t.test('operations on a client or loan that is held keep their order', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  for (const together of [false, true]) {
    const client = `C-order-${together}`
    const loan = `L-order-${together}`
    const release = await hold(service, `client:${client}`)
    const held = []
    for (const [status, data] of [
      ['CLIENT_CREATE', clientData(client)],
      ['CLIENT_UPDATE', { externalId: client, mobileNo: '+919800000010' }],
      ['LOAN_CREATE', loanData(loan, client)],
      ['LOAN_APPROVE', approval(loan)],
    ] as const) {
      held.push(operate(service, status, data))
      if (!together) await triedAgain(service)
    }
    // A group that was under way may be without the last ones.
    await triedAgain(service)
    await triedAgain(service)
    await release()
    for (const { status } of await Promise.all(held)) t.equal(status, 202)
    const { rows } = await sql`
      select operation_type as type from loanops.operation where external_id in (${client}, ${loan})
       order by subject, seq`.execute(service.db)
    t.same(
      rows.map((row: any) => row.type),
      ['CLIENT_CREATE', 'CLIENT_UPDATE', 'LOAN_CREATE', 'LOAN_APPROVE'],
    )
  }
})

t.test('only operations whose clients stay held are answered with 503, however many', async t => {
  const service = await startTestService(t, { ROLE: 'api', DATABASE_POOL_MAX: '10' })
  const clients = Array.from({ length: MAX_CONCURRENT_GROUPS + 2 }, (_, n) => `C-held-${n}`)
  const releases = await Promise.all(clients.map(client => hold(service, `client:${client}`)))
  const held = []
  for (const client of clients) {
    held.push(operate(service, 'CLIENT_CREATE', clientData(client)))
    // What comes later is answered only if the one before it has not kept a commit to itself.
    const { status } = await operate(service, 'CLIENT_CREATE', clientData(`${client}-other`))
    t.equal(status, 202)
  }
  for (const answer of await Promise.all(held))
    t.match(answer, { status: 503, body: { code: 'UNAVAILABLE' } })
  for (const release of releases) await release()
  for (const client of clients)
    t.match(await operate(service, 'CLIENT_CREATE', clientData(client)), { status: 202 })
})
