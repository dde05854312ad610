import { sql } from 'kysely'
import t from 'tap'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { matchEach } from '../../support/match-each.ts'
import { capturedA } from '../../support/payments/gateway-events.ts'
import { LENDER, replaceView, serviceWithSource } from '../../support/payments/payments.ts'
import { until } from '../../support/until.ts'

/** Nobody else's advisory lock. */
const LOCK = 8_000_001

t.test('a source that receives events while it is read does not delay the batch', async t => {
  const service = await serviceWithSource(t)
  await sql`
    create function receive() returns trigger language plpgsql security definer as $$ begin
      insert into raw.lender_02_gateway_a (body) values (convert_to(format('{"n": "%s"}', clock_timestamp()), 'UTF8'));
      return null; end $$`.execute(service.db)
  await sql`create trigger receive after delete on core.pending_event for each statement execute function receive()`.execute(
    service.db,
  )
  for (const id of ['pay_1', 'pay_2'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), LENDER)
  t.match(await service.batch(), { transformed: 2, posted: 2 })
})

t.test('the row that a view fails on becomes unreadable, not one that arrived since', async t => {
  const service = await serviceWithSource(t)
  await sql`
    create function base.wait_and_raise(amount numeric) returns numeric language plpgsql as $$ begin
      if amount = 13 then
        perform pg_advisory_xact_lock_shared(${sql.lit(LOCK)});
        raise 'thirteen';
      end if;
      return amount; end $$`.execute(service.db)
  await replaceView(service.db, { amount: 'base.wait_and_raise(f.amount)' })
  await service.webhook('gateway_a', capturedA({ id: 'pay_13', amount: 1_300 }), LENDER)
  const running = await service.db.transaction().execute(async trx => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
    // The object keeps the batch from being awaited in here.
    const running = { end: service.batch() }
    await until(async () => {
      const { rows } = await sql`
        select from pg_locks
         where locktype = 'advisory' and objid = ${LOCK} and not granted`.execute(service.db)
      return rows.length > 0 ? true : undefined
    }, 'the view waits')
    const body = Buffer.from(JSON.stringify(capturedA({ id: 'pay_1', loan: 'L-1' })))
    await sql`
      insert into raw.lender_02_gateway_a (id, body)
      values ('00000000-0000-7000-8000-000000000001', ${body})`.execute(service.db)
    return running
  })
  t.match(await running.end, { transformed: 1, suspended: 1 })
  t.match(await service.batch(), { transformed: 1, posted: 1 })
  const { body } = await service.call('GET', '/api/payments?state=suspense')
  matchEach(t, body.payments, [{ reason: 'unreadable', hints: { error: 'thirteen' } }])
})

t.test('an event that breaks a constraint is tried again, and delays no other', async t => {
  const service = await serviceWithSource(t)
  await sql`
    alter table core.transaction add constraint ours check (gateway_payment_id <> 'pay_2')`.execute(
    service.db,
  )
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), LENDER)
  t.match(await service.batch(), { transformed: 2, posted: 2, suspended: 0, last_error: /"ours"/ })
  await sql`alter table core.transaction drop constraint ours`.execute(service.db)
  t.match(await service.batch(), { transformed: 1, posted: 1, last_error: null })
})

t.test('a row not read in time becomes unreadable, and the others are posted', async t => {
  const service = await serviceWithSource(t)
  await sql`
    create function base.never(amount numeric) returns numeric language plpgsql as $$ begin
      if amount = 13 then
        -- This is what the time limit raises, for which this test does not wait.
        raise query_canceled;
      end if;
      return amount; end $$`.execute(service.db)
  await replaceView(service.db, { amount: 'base.never(f.amount)' })
  await service.webhook('gateway_a', capturedA({ id: 'pay_13', amount: 1_300 }), LENDER)
  for (const id of ['pay_1', 'pay_2', 'pay_3'])
    await service.webhook('gateway_a', capturedA({ id, loan: 'L-1' }), LENDER)
  t.match(await service.batch(), { transformed: 4, posted: 3, suspended: 1, last_error: null })
  const { body } = await service.call('GET', '/api/payments?state=suspense')
  matchEach(t, body.payments, [{ reason: 'unreadable', hints: { payment_id: 'pay_13' } }])
})

t.test('a question about one payment at a time is planned once per connection', async t => {
  const { db } = await freshDatabase(t)
  // Their plans name indexes, not values: with values, PostgreSQL would plan them anew for each payment.
  const { rows } = await sql<{ asked: string }>`
    select p.oid::regprocedure::text as asked from pg_proc p join pg_language l on l.oid = p.prolang
     where p.pronamespace = 'core'::regnamespace and l.lanname = 'plpgsql' and p.provolatile = 's'
       and 'core.transaction'::regtype = any(p.proargtypes) and 'enable_seqscan=off' = any(p.proconfig)
       and 'plan_cache_mode=force_generic_plan' <> all(p.proconfig)`.execute(db)
  t.same(rows, [])
})
