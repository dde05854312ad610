import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { waitingForRow } from '../../support/database/locks.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import {
  allSaved,
  type PaymentService,
  paymentService,
  replaceView,
} from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

const eventIds = async ({ db }: PaymentService, store = 'lender_02_gateway_a') => {
  const { rows } = await sql<{ event_id: string }>`
    select event_id from ${sql.table(`raw.${store}`)} order by event_id`.execute(db)
  return rows.map(({ event_id }) => event_id)
}
const failedJobs = async ({ db }: PaymentService) =>
  (await sql<{ queue: string; data: any; error: any }>`select * from ops.job_failed`.execute(db))
    .rows

function send(service: PaymentService, id: string, lender = 'LENDER_02') {
  const headers = { 'x-gatewaya-event-id': id }
  return service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), { lender, headers })
}

t.test('a locked raw table delays its own events only, and gives up none of them', async t => {
  const service = await paymentService(t)
  await send(service, 'evt_0')
  await allSaved(service.db)
  const holder = new pg.Client(service.databaseUrl.replace(/\/\/[^@]*@/, ownerLogin()))
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('begin')
  await holder.query('lock table raw.lender_02_gateway_a in access exclusive mode')
  await Promise.all([send(service, 'evt_1'), send(service, 'evt_2', 'LENDER_03')])
  await until(async () => {
    const { rows } = await sql`
        select from pgboss.job where name = 'payment-event' and retry_count > 0`.execute(service.db)
    return rows.length > 0 ? true : undefined
  }, 'the events are put off')
  t.same(await eventIds(service, 'lender_03_gateway_a'), ['evt_2'])
  await holder.query('rollback')
  await allSaved(service.db)
  t.same(await eventIds(service), ['evt_0', 'evt_1'])
  t.same(await failedJobs(service), [])
})

t.test('a first event whose raw table is made by hand at that moment is saved', async t => {
  const service = await paymentService(t)
  await service.db.transaction().execute(async trx => {
    await sql`create table raw.lender_02_gateway_a (like raw.template including all)`.execute(trx)
    await send(service, 'evt_1')
    await until(() => waitingForRow(service.db), 'the event waits for the table')
  })
  await allSaved(service.db)
  t.same(await eventIds(service), ['evt_1'])
  t.same(await failedJobs(service), [])
})

t.test('an event that was not saved is shown with its error; one query redrives it', async t => {
  const service = await paymentService(t)
  await send(service, 'evt_0')
  await allSaved(service.db)
  await sql`
      alter table raw.lender_02_gateway_a add constraint no_poison check (event_id <> 'poison')`.execute(
    service.db,
  )
  await send(service, 'poison')
  const [job] = await until(async () => {
    const jobs = await failedJobs(service)
    return jobs.length > 0 ? jobs : undefined
  }, 'it is given up')
  t.match(job, {
    queue: 'payment-event-dead',
    data: { events: [{ eventId: 'poison' }] },
    error: { code: '23514', message: /no_poison/ },
  })
  await sql`alter table raw.lender_02_gateway_a drop constraint no_poison`.execute(service.db)
  const redrive = async (queue: string) =>
    (await sql<{ jobs: string }>`select ops.redrive(${queue}) as jobs`.execute(service.db)).rows
  t.same(await redrive('payment-event-dead'), [{ jobs: '1' }])
  t.same(await failedJobs(service), [])
  await allSaved(service.db)
  t.same(await eventIds(service), ['evt_0', 'poison'])
  t.same(await redrive('payment-event-dead'), [{ jobs: '0' }])
})

t.test('redriving a queue that is not a dead-letter queue loses nothing', async t => {
  const service = await paymentService(t)
  await sql`
    insert into pgboss.job (name, data)
     values ('payment-event-dead', '{"events":[]}')`.execute(service.db)
  await sql`select ops.redrive('payment-event')`.execute(service.db)
  t.equal((await failedJobs(service)).length, 1)
})

t.test('a time-out that passes makes no row unreadable', async t => {
  const service = await paymentService(t)
  await service.loan('L-1')
  await send(service, 'evt_0')
  await service.batch()
  await sql`create sequence base.reading`.execute(service.db)
  await sql`grant usage on sequence base.reading to public`.execute(service.db)
  await sql`
      create function base.untroubled(amount numeric) returns numeric language plpgsql as $$ begin
        if nextval('base.reading') = 1 then
          raise exception 'canceling statement due to statement timeout' using errcode = 'query_canceled';
        end if;
        return amount;
      end $$`.execute(service.db)
  await replaceView(service.db, { amount: 'base.untroubled(f.amount)' })
  await send(service, 'evt_1')
  t.match(await service.batch(), { transformed: 1, suspended: 0, posted: 1 })
  t.match((await service.payment('evt_1')).payment, { state: 'posted' })
})

/** The service may not lock tables; their owner may. */
function ownerLogin(): string {
  const { username, password } = new URL(process.env.TEST_DATABASE_URL as string)
  return `//${username}:${password}@`
}
