import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { FIRST_ID } from '../../ids.ts'
import type { AuditHead } from './audit-head.ts'

/** No more rows are read at once, however long the audit is. */
const ROWS_AT_ONCE = 10_000

const WRONG = {
  follows: 'does not follow from the row before it: it was changed or inserted, or others were',
  after: 'comes after a row that was removed',
  last: 'was removed',
  past: 'was inserted later than it says',
  unsealed: 'was inserted around the chain',
}
type Wrong = { wrongId: string | null; wrong: keyof typeof WRONG | null }
type Page = AuditHead & Wrong & { position: string; rows: number }
type Verified = { sealed: number; unsealed: number; head: AuditHead | undefined }

/**
 * Verifies the audit, independent of every function that the owner could replace.
 * @param kept a head that was kept elsewhere
 * @returns how many rows there are, or the first one that is not as it was sealed, in words
 */
export async function verifyAudit(db: Database, kept?: AuditHead): Promise<Verified | string> {
  return db.transaction().execute(async trx => {
    // The owner could have functions of its own found before PostgreSQL's, or hide rows from this login.
    await sql`set local search_path = pg_catalog`.execute(trx)
    await sql`set local row_security = off`.execute(trx)
    return (await replaced(trx)) ?? (await verifyRows(trx, kept))
  })
}

async function verifyRows(db: Database, kept: AuditHead | undefined): Promise<Verified | string> {
  let sealed = 0
  let head: Page | undefined
  for (;;) {
    const page = await readPage(db, head)
    if (page === undefined) break
    if (page.wrong) return inWords(page)
    sealed += page.rows
    head = page
  }
  const { unsealed, ...wrong } = await readUnsealed(db)
  if (wrong.wrong) return inWords(wrong)
  return (kept && (await wrongHead(db, kept))) ?? { sealed, unsealed, head }
}

/** The text of the view is written the same by every version of PostgreSQL, except for the name before a column. */
const VIEW =
  ' SELECT at, actor, action, subject, address, request_id, detail, id, caller, session_role FROM loanops.audit;'

/**
 * A view in a table's place, or a type of the owner's, which says itself what its values are as JSON, could show this command
 * other rows than everybody else; and the view `ops.audit` everybody else other rows than this command.
 */
async function replaced(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ what: string }>`
    with tables as (
      select oid, relkind, oid::regclass as name from pg_class
       where oid in ('loanops.audit'::regclass, 'loanops.audit_seal'::regclass, 'loanops.audit_unsealed'::regclass)
    )
    select format('%s was replaced: it is not a table.', name) as what from tables where relkind <> 'r'
    union all
    select format('%s.%I was changed: its type is not one of PostgreSQL.', name, a.attname)
      from tables join pg_attribute a on a.attrelid = tables.oid join pg_type t on t.oid = a.atttypid
     where t.typnamespace <> 'pg_catalog'::regnamespace
    union all
    select 'ops.audit was replaced: it does not show the rows as they are.'
      from pg_class
     where relname = 'audit' and relnamespace = (select oid from pg_namespace where nspname = 'ops')
       and (relkind <> 'v' or regexp_replace(replace(pg_get_viewdef(oid), 'audit.', ''), '\\s+', ' ', 'g') <> ${VIEW})`.execute(
    db,
  )
  return rows[0]?.what
}

const inWords = ({ wrongId, wrong }: Wrong): string =>
  `Row ${wrongId} ${WRONG[wrong ?? 'follows']}.`

async function readPage(db: Database, before: Page | undefined): Promise<Page | undefined> {
  const { position = '0', chain = '' } = before ?? {}
  const { rows } = await sql<Page>`
    with page as (
      select * from loanops.audit_seal where position > ${position} order by position limit ${ROWS_AT_ONCE}
    ), link as (
      select s.*, a.id, a.at, lag(s.position, 1, ${position}::bigint) over place as position_before,
             sha256(lag(s.chain, 1, decode(${chain}, 'hex')) over place || convert_to(jsonb_build_array(
               a.id, extract(epoch from a.at), a.actor, a.caller, a.action, a.subject, a.address, a.request_id,
               a.session_role, a.detail)::text, 'UTF8')) as expected
        from page s left join loanops.audit a on a.id = s.audit_id
      window place as (order by s.position)
    ), judged as (
      select *, case when id is null then 'last' when position <> position_before + 1 then 'after'
                     when chain <> expected then 'follows' when at <> inserted_at then 'past' end as wrong
        from link
    ), found as (
      select *, (select s.audit_id from loanops.audit_seal s join loanops.audit a on a.id = s.audit_id
                  where judged.id is null and s.position > judged.position order by s.position limit 1) as present
        from judged where wrong is not null order by position limit 1
    )
    select audit_id as id, encode(chain, 'hex') as chain, position, (select count(*)::integer from page) as rows,
           (select coalesce(present, audit_id) from found) as "wrongId",
           (select case when present is null then wrong else 'after' end from found) as wrong
      from page order by position desc limit 1`.execute(db)
  return rows[0]
}

type Unsealed = Wrong & Pick<Verified, 'unsealed'> & { last: string | null }

async function readUnsealed(db: Database): Promise<Wrong & Pick<Verified, 'unsealed'>> {
  let unsealed = 0
  for (let after = FIRST_ID; ; ) {
    const page = await readUnsealedAfter(db, after)
    unsealed += page.unsealed
    if (page.wrong || page.last === null) return { ...page, unsealed }
    after = page.last
  }
}

async function readUnsealedAfter(db: Database, after: string): Promise<Unsealed> {
  const { rows } = await sql<Unsealed>`
    with page as (
      (select id from loanops.audit where id > ${after} order by id limit ${ROWS_AT_ONCE})
      union
      (select id from loanops.audit_unsealed where id > ${after} order by id limit ${ROWS_AT_ONCE})
      order by id limit ${ROWS_AT_ONCE}
    ), judged as (
      select id, s.audit_id is null as is_unsealed,
             case when a.id is null then 'last' when s.audit_id is not null then null when u.id is null then 'unsealed'
                  when a.at <> u.inserted_at then 'past' end as wrong
        from page
        left join loanops.audit a using (id)
        left join loanops.audit_unsealed u using (id)
        left join loanops.audit_seal s on s.audit_id = page.id
    )
    select count(*) filter (where is_unsealed)::integer as unsealed, (array_agg(id order by id desc))[1] as last,
           (array_agg(id order by id) filter (where wrong is not null))[1] as "wrongId",
           (array_agg(wrong order by id) filter (where wrong is not null))[1] as wrong
      from judged`.execute(db)
  return rows[0] ?? { unsealed: 0, last: null, wrongId: null, wrong: null }
}

async function wrongHead(db: Database, { id, chain }: AuditHead): Promise<string | undefined> {
  const { rows } = await sql<{ chain: string }>`
    select encode(chain, 'hex') as chain from loanops.audit_seal where audit_id = ${id}`.execute(db)
  const [seal] = rows
  if (!seal) return `Row ${id} of --head is not sealed here: the end of the audit was cut off.`
  if (seal.chain === chain) return undefined
  return `Row ${id} of --head is sealed with another chain: the whole chain was recomputed.`
}
