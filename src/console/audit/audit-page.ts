import { Type } from '@sinclair/typebox'
import { html } from 'hono/html'
import { sql } from 'kysely'
import { equalTo } from '../../database/equal-to.ts'
import { WITHOUT_NUL } from '../../http/fields/text-fields.ts'
import { decodeCursor, pageOf } from '../../http/lists/cursor.ts'
import { approvalPath } from '../frame/paths.ts'
import { countUpTo } from '../lists/count.ts'
import { column, idColumn, timeColumn } from '../lists/list.ts'
import { listPage } from '../lists/list-routes.ts'
import { quoted } from '../text/quoted.ts'
import { subjectLink } from './subject-link.ts'

const text = Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: WITHOUT_NUL }))
const filters = { actor: text, action: text, subject: text }

type Row = {
  id: string
  at: Date
  actor: string
  caller: string | null
  action: string
  subject: string
  address: string | null
  request_id: string | null
  detail: Record<string, unknown>
}

export const auditPage = listPage<typeof filters, Row>(({ db, formats }) => ({
  path: '/audit',
  title: 'Audit',
  filters,
  cursor: ['uuid'],
  empty: 'No entry matches. Logins and everything that operators do appear here.',
  columns: [
    timeColumn(formats, 'at', 'At'),
    column('actor', 'Actor'),
    column('caller', 'Caller'),
    column('action', 'Action'),
    idColumn('subject', 'Subject', row => subjectLink(row.action, row.subject)),
    idColumn('detail', 'Detail', row => detailOf(row.detail)),
    column('address', 'Address'),
    idColumn('request_id', 'Request'),
  ],
  async load({ limit, cursor, ...filter }) {
    const [last] = decodeCursor(cursor, ['uuid'])
    const { rows } = await sql<Row>`
      select id, at, actor, caller, action, subject, host(address) as address, request_id, detail
        from ops.audit
       where ${equalTo(filter)}
         and ${last === undefined ? sql`true` : sql`(at, id) < ((select at from ops.audit where id = ${last}), ${last}::uuid)`}
       order by at desc, id desc limit ${limit + 1}`.execute(db)
    return pageOf(rows, limit, row => [row.id])
  },
  count: filter => countUpTo(db, sql`select from ops.audit where ${equalTo(filter)}`),
}))

export function detailOf({ note, approval_id: approval, ...others }: Record<string, unknown>) {
  const rest = Object.entries(others)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${valueInWords(value)}`)
  const texts = [...(typeof note === 'string' ? [quoted(note)] : []), ...rest].join('; ')
  if (typeof approval !== 'string') return html`${texts}`
  return html`${texts}${texts && '; '}<a href="${approvalPath(approval)}">approval</a>`
}

function valueInWords(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  const text = String(value)
  // A semicolon would seem to end it.
  return text.includes(';') ? quoted(text) : text
}
