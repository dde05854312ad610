import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { audit } from '../../../src/accounts/audit.ts'
import { auditHead } from '../../../src/accounts/audit-chain/audit-head.ts'
import { sealAudit } from '../../../src/accounts/audit-chain/seal-audit.ts'
import { verifyAudit } from '../../../src/accounts/audit-chain/verify-audit.ts'
import type { Database } from '../../../src/database/database.ts'
import { logger } from '../../../src/log/log.ts'
import { purgeOperations } from '../../../src/operations/operations-feature.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'
import { MAIN } from '../../support/main.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const asker = { actor: 'asha', caller: 'los', address: '10.0.0.7', requestId: 'r-1' }

t.test('a worker seals what was done, and GET /audit/head names the last of it', async t => {
  const { call, db } = await startTestService(t, {}, { prepare: db => act(db, 3) })
  await until(async () => (await auditHead(db)) !== undefined, 'the first rows are sealed')
  const { status, body } = await call('GET', '/api/audit/head')
  t.equal(status, 200)
  t.same(body, await auditHead(db))
  t.match(await verifyAudit(db), { sealed: 3, unsealed: 0, head: body })
})

t.test('before anything is sealed the head is null', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  t.same((await call('GET', '/api/audit/head')).body, { id: null, chain: null })
})

t.test('a worker logs the head', async t => {
  const { db } = await sealedRows(t, 2)
  const logged = Promise.withResolvers<object>()
  const log = Object.assign(logger('silent'), { info: logged.resolve })
  const job = sealAudit({ db, log })
  t.teardown(() => job.stop())
  t.same(await logged.promise, await auditHead(db))
})

t.test('a row that commits late is sealed after those with later ids', async t => {
  const { db } = await freshDatabase(t)
  await db.transaction().execute(async late => {
    await audit(late, { ...asker, action: 'payment.note', subject: 'late' })
    await act(db, 2)
    t.equal(await seal(db), 2, 'sealing does not wait for it')
  })
  t.equal(await seal(db), 1)
  const { rows } = await sql`
    select subject from loanops.audit_seal join loanops.audit on id = audit_id
     order by position`.execute(db)
  t.same(rows, [{ subject: 's-1' }, { subject: 's-2' }, { subject: 'late' }])
  t.match(await verifyAudit(db), { sealed: 3, unsealed: 0 })
})

t.test('no act waits for a sealing, and no sealing for another', async t => {
  const { db } = await freshDatabase(t)
  await act(db, 5)
  await db.transaction().execute(async sealing => {
    t.equal(await seal(sealing), 5)
    await act(db, 1)
    t.equal(await seal(db), 0, 'another worker leaves it to the first')
  })
  t.equal(await seal(db), 1)
  t.match(await verifyAudit(db), { sealed: 6, unsealed: 0 })
})

t.test('a sealing that is cut short leaves everything to the next one', async t => {
  const { db } = await freshDatabase(t)
  await act(db, 5)
  const cut = db.transaction().execute(async sealing => {
    t.equal(await seal(sealing, 3), 3)
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(sealing)
    await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(db)
    await seal(sealing)
  })
  await t.rejects(cut)
  t.match(await verifyAudit(db), { sealed: 0, unsealed: 5 })
  t.equal(await seal(db), 5)
  t.match(await verifyAudit(db), { sealed: 5, unsealed: 0 })
})

t.test('many workers at once seal each row once', async t => {
  const { db } = await freshDatabase(t)
  await act(db, 40)
  const sealings = Array.from({ length: 8 }, () => seal(db, 7))
  await Promise.all([...sealings, act(db, 10)])
  while ((await seal(db, 7)) > 0);
  t.match(await verifyAudit(db), { sealed: 50, unsealed: 0 })
})

t.test('a purge changes nothing that is sealed', async t => {
  const { db } = await sealedRows(t, 3)
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, processed_at)
    select core.first_id_at(at), 'LOAN_DELETE', 'api', 'loan:L', 'L', '{}', 'success', at
      from (values (now() - interval '2 days')) a (at)`.execute(db)
  t.equal(await purgeOperations(db, 1), 1)
  t.match(await verifyAudit(db), { sealed: 3, unsealed: 0 })
})

const follows = (id: string) => `Row ${id} does not follow from the row before it`
const removed = (id: string) => `Row ${id} comes after a row that was removed`

for (const column of ['actor', 'caller', 'action', 'subject', 'request_id', 'session_role'])
  t.test(`a changed ${column} of a sealed row is named`, async t => {
    const { db, ids } = await sealedRows(t)
    await asOwner(db, `update loanops.audit set ${column} = 'nobody' where id = '${ids[2]}'`)
    t.match(await verifyAudit(db), follows(ids[2]))
  })

for (const change of [
  `at = at + interval '1 microsecond'`,
  `address = '10.0.0.8'`,
  `caller = null`,
  `detail = '{"n": 2}'`,
])
  t.test(`a sealed row with ${change} is named`, async t => {
    const { db, ids } = await sealedRows(t)
    await asOwner(db, `update loanops.audit set ${change} where id = '${ids[2]}'`)
    t.match(await verifyAudit(db), follows(ids[2]))
  })

t.test('a changed row is named although its own chain was computed anew', async t => {
  const { db, ids } = await sealedRows(t)
  await asOwner(db, `update loanops.audit set actor = 'nobody' where id = '${ids[2]}'`)
  await sealAnew(db, 3, 3)
  t.match(await verifyAudit(db), follows(ids[3]))
})

t.test('the row after a removed one is named', async t => {
  const { db, ids } = await sealedRows(t)
  await asOwner(db, `delete from loanops.audit where id in ('${ids[1]}', '${ids[2]}')`)
  t.equal(await verifyAudit(db), `${removed(ids[3])}.`)
})

t.test('the row after a removed one is named although its seal was removed too', async t => {
  const { db, ids } = await sealedRows(t)
  await asOwner(
    db,
    `delete from loanops.audit where id = '${ids[0]}'; delete from loanops.audit_seal where position = 1`,
  )
  t.equal(await verifyAudit(db), `${removed(ids[1])}.`)
  await asOwner(db, `update loanops.audit_seal set position = position - 1`)
  t.match(await verifyAudit(db), follows(ids[1]))
})

t.test('a last row that was removed is named itself', async t => {
  const { db, ids } = await sealedRows(t)
  await asOwner(db, `delete from loanops.audit where id = '${ids.at(-1)}'`)
  t.equal(await verifyAudit(db), `Row ${ids.at(-1)} was removed.`)
})

t.test('a row that was removed before it was sealed is named', async t => {
  const { db, ids } = await rowsOf(t, 3)
  await asOwner(db, `delete from loanops.audit where id = '${ids[1]}'`)
  t.equal(await verifyAudit(db), `Row ${ids[1]} was removed.`)
  t.equal(await seal(db), 2, 'the others are sealed all the same')
  t.equal(await verifyAudit(db), `Row ${ids[1]} was removed.`)
})

const INSERTED = '00000000-0000-4000-8000-000000000001'
const insertion = (values: string) =>
  `insert into loanops.audit (id, actor, action, subject, at) values ('${INSERTED}', 'asha', 'payment.post', 'x', ${values})`

t.test('a row that was written into the past is named, sealed or not', async t => {
  const { db } = await sealedRows(t)
  await sql.raw(insertion(`now() - interval '1 day'`)).execute(db)
  const wrong = `Row ${INSERTED} was inserted later than it says.`
  t.equal(await verifyAudit(db), wrong)
  t.equal(await seal(db), 1)
  t.equal(await verifyAudit(db), wrong)
})

t.test('the documented query finds a row that the owner gave an earlier time', async t => {
  const { db } = await sealedRows(t)
  const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
  const [, query = ''] = page.match(/```sql\n(select audit_id.*?)```/s) ?? []
  t.same((await sql.raw(query).execute(db)).rows, [])
  const early = `timestamptz '2026-01-01'`
  await sql.raw(insertion(early)).execute(db)
  await sql.raw(`update loanops.audit_unsealed set inserted_at = ${early}`).execute(db)
  t.equal(await seal(db), 1)
  t.match(await verifyAudit(db), { sealed: 6 }, 'by nothing else')
  t.match((await sql.raw(query).execute(db)).rows, [{ audit_id: INSERTED }])
})

t.test('a row that was inserted past the triggers is named', async t => {
  const { db } = await sealedRows(t)
  await asOwner(db, insertion('now()'))
  t.equal(await verifyAudit(db), `Row ${INSERTED} was inserted around the chain.`)
})

t.test('a row that was inserted with a seal in the middle of the chain is named', async t => {
  const { db } = await sealedRows(t)
  await asOwner(
    db,
    `${insertion('now()')};
     update loanops.audit_seal set position = -position - 1 where position > 2;
     update loanops.audit_seal set position = -position where position < 0;
     insert into loanops.audit_seal select 3, '${INSERTED}', at, '\\x00' from loanops.audit where id = '${INSERTED}'`,
  )
  t.match(await verifyAudit(db), follows(INSERTED))
})

t.test('sealed rows that were put in another order are named', async t => {
  const { db, ids } = await sealedRows(t)
  await asOwner(
    db,
    `update loanops.audit_seal set position = -position where position in (2, 3);
     update loanops.audit_seal set position = 5 + position where position < 0`,
  )
  t.match(await verifyAudit(db), follows(ids[2]))
})

t.test('a tail that was cut off is found by a head that was kept', async t => {
  const { db, ids } = await sealedRows(t)
  const kept = await auditHead(db)
  await asOwner(
    db,
    `delete from loanops.audit where id = '${ids[4]}'; delete from loanops.audit_seal where position = 5`,
  )
  t.match(await verifyAudit(db), { sealed: 4 }, 'by nothing else')
  await act(db, 1)
  await seal(db)
  t.equal(
    await verifyAudit(db, kept),
    `Row ${ids[4]} of --head is not sealed here: the end of the audit was cut off.`,
  )
})

t.test('a chain that was computed anew is found by a head that was kept', async t => {
  const { db, ids } = await sealedRows(t)
  const kept = await auditHead(db)
  t.match(await verifyAudit(db, kept), { sealed: 5 })
  await asOwner(db, `update loanops.audit set actor = 'nobody' where id = '${ids[1]}'`)
  await sealAnew(db, 1, 5)
  t.match(await verifyAudit(db), { sealed: 5 }, 'by nothing else')
  t.equal(
    await verifyAudit(db, kept),
    `Row ${ids[4]} of --head is sealed with another chain: the whole chain was recomputed.`,
  )
})

t.test('a changed row is named although a function of the owner’s is found first', async t => {
  const { db, ids, url } = await sealedRows(t)
  await asOwner(db, `update loanops.audit set actor = 'nobody' where id = '${ids[2]}'`)
  await sql
    .raw(`
      create schema evil;
      grant usage on schema evil to public;
      create function evil.sha256(given bytea) returns bytea language sql return (
        select sha256(substr(given, 1, length(given) - length(row_of)) ||
                      replace(convert_from(row_of, 'UTF8'), '"nobody"', '"asha"')::bytea)
          from (select substr(given, position('[' in given))) r (row_of));
      do $$ begin
        execute format('alter database %I set search_path = evil, pg_catalog', current_database());
      end $$`)
    .execute(db)
  t.match(await command(url), { code: 1, output: follows(ids[2]) })
})

t.test('a policy that hides rows from whoever verifies is told', async t => {
  const { db, url } = await sealedRows(t)
  await sql
    .raw(`
      alter table loanops.audit enable row level security;
      create policy others on loanops.audit using (subject <> 's-1')`)
    .execute(db)
  t.match(await command(url), { code: 1, output: 'row-level security' })
})

t.test('a view in the place of the audit is named', async t => {
  const { db } = await sealedRows(t)
  await sql
    .raw(`
      alter table loanops.audit rename to real;
      create view loanops.audit as select * from loanops.real`)
    .execute(db)
  t.equal(await verifyAudit(db), 'loanops.audit was replaced: it is not a table.')
})

t.test('a column that says itself what its rows were sealed as is named', async t => {
  const { db } = await sealedRows(t)
  await asOwner(
    db,
    `create schema evil;
     create type evil.name as enum ('asha', 'nobody');
     create function evil.sealed(evil.name) returns json language sql immutable return '"asha"'::json;
     create cast (evil.name as json) with function evil.sealed(evil.name);
     drop view ops.audit;
     alter table loanops.audit alter actor type evil.name using 'nobody'::evil.name`,
  )
  t.equal(
    await verifyAudit(db),
    'loanops.audit.actor was changed: its type is not one of PostgreSQL.',
  )
})

t.test('a view that shows everybody other rows than were sealed is named', async t => {
  const { db, url } = await sealedRows(t)
  await sql
    .raw(`
      create or replace view ops.audit as
      select at, replace(actor, 'asha', 'nobody') as actor, action, subject, address, request_id, detail, id, caller, session_role
        from loanops.audit`)
    .execute(db)
  const output = 'ops.audit was replaced: it does not show the rows as they are.'
  t.match(await command(url), { code: 1, output })
})

t.test('npm run verify-audit prints the number of rows and exits with what it found', async t => {
  const { db, ids, url } = await sealedRows(t)
  await act(db, 2)
  const head = await auditHead(db)
  const intact = await command(url, ['--head', `${head?.id}:${head?.chain}`])
  t.match(intact, { code: 0, output: 'The audit has 7 rows: 5 are as they were sealed, 2 are not' })
  t.match(intact.output, `${head?.id}:${head?.chain}`)
  await asOwner(db, `update loanops.audit set actor = 'nobody' where id = '${ids[1]}'`)
  t.match(await command(url), { code: 1, output: follows(ids[1]) })
  t.match(await command(url, ['--head', 'x']), { code: 1, output: '--head must be the id' })
})

t.test('the service’s own roles can change neither seals nor what waits for one', async t => {
  const { db } = await sealedRows(t, 1)
  for (const role of ['loanops_runtime', 'loanops_worker'])
    for (const table of ['audit_seal', 'audit_unsealed'])
      for (const what of ['insert', 'update', 'delete', 'truncate']) {
        const { rows } = await sql<{ may: boolean }>`
          select has_table_privilege(${role}, ${`loanops.${table}`}, ${what}) as may`.execute(db)
        t.same(rows, [{ may: false }], `${role} ${what} ${table}`)
      }
  await t.rejects(sql`update loanops.audit_seal set position = 7`.execute(db), {
    message: /append-only/,
  })
})

async function rowsOf(t: Test, count: number) {
  const { db, url } = await freshDatabase(t)
  await act(db, count)
  const { rows } = await sql<{ id: string }>`select id from loanops.audit order by id`.execute(db)
  return { db, url, ids: rows.map(({ id }) => id) as [string, string, string, string, string] }
}

async function sealedRows(t: Test, count = 5) {
  const rows = await rowsOf(t, count)
  t.equal(await seal(rows.db), count)
  return rows
}

async function act(db: Database, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const entry = { ...asker, action: 'payment.note', subject: `s-${i}`, detail: { n: 1 } }
    await db.transaction().execute(trx => audit(trx, entry))
  }
}

async function seal(db: Database, most = 1_000): Promise<number> {
  const { rows } = await sql<{ sealed: number }>`
    select loanops.seal_audit(${most}) as sealed`.execute(db)
  return rows[0]?.sealed ?? Number.NaN
}

/** Runs the statements with the triggers off, as only the owner can. */
async function asOwner(db: Database, statements: string): Promise<void> {
  await sql
    .raw(`begin;
      alter table loanops.audit disable trigger user;
      alter table loanops.audit_seal disable trigger user;
      ${statements};
      alter table loanops.audit enable trigger user;
      alter table loanops.audit_seal enable trigger user;
      commit`)
    .execute(db)
}

/** Computes the seals again, as an owner could who knows how the chain is computed. */
async function sealAnew(db: Database, from: number, to: number): Promise<void> {
  for (let position = from; position <= to; position++)
    await asOwner(
      db,
      `update loanops.audit_seal s set chain = sha256(
         coalesce((select chain from loanops.audit_seal b where b.position = s.position - 1), '') || convert_to(
         jsonb_build_array(a.id, extract(epoch from a.at), a.actor, a.caller, a.action, a.subject, a.address,
           a.request_id, a.session_role, a.detail)::text, 'UTF8'))
        from loanops.audit a where a.id = s.audit_id and s.position = ${position}`,
    )
}

async function command(url: string, args: string[] = []) {
  const child = spawn(process.execPath, [MAIN, 'verify-audit', ...args], {
    env: { DATABASE_URL: url, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (child.exitCode === null) await once(child, 'exit')
  return { code: child.exitCode, output: output + errors }
}
