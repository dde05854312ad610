import { sql } from 'kysely'
import t from 'tap'
import type { Config } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { newId } from '../../src/ids.ts'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { migrationKinds, rowKindOf } from '../../src/portfolio/kinds/kinds.ts'
import { sweepUploads } from '../../src/portfolio/sweep-uploads.ts'
import { upload } from '../../src/portfolio/upload/upload.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const asker = { actor: 'internal-token', caller: null, address: null, requestId: null }

t.test('a file that is refused at its end leaves no rows behind', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const rows = Array.from({ length: 4_000 }, (_, n) => ({ payment_reference: `p-${n}` }))
  const csv = `${repaymentsCsv(...rows)}L-1,"`
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => uploadCsv(service, 'repayments', csv)),
  )
  t.same(
    answers.map(({ status }) => status),
    answers.map(() => 400),
  )
  t.equal(await countRows(service.db), 0)
})

t.test('a sweep deletes what dead uploads left, in steps, and nothing else', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { db } = service
  const { body } = await uploadCsv(service, 'repayments', repaymentsCsv({}))
  const [killed, arriving, nobodys] = [newId(), newId(), newId()]
  await addUploading(db, killed, '25 hours')
  await addUploading(db, arriving, '23 hours')
  await addRows(db, killed, 60_000)
  await addRows(db, arriving, 10)
  await addRows(db, nobodys, 10)

  const [first, second] = await Promise.allSettled([sweepUploads(db), sweepUploads(db)])
  t.match([first, second], [{ status: 'fulfilled' }, { status: 'fulfilled' }])
  const { rows } = await sql<{ id: string; count: number }>`
    select migration_id as id, count(*)::integer as count
      from loanops.migration_row group by 1 order by 1`.execute(db)
  const left = [
    { id: body.migration_id, count: 1 },
    { id: arriving, count: 10 },
  ]
  t.same(
    rows,
    left.sort((a, b) => (a.id < b.id ? -1 : 1)),
  )
  t.equal((await sql`select from loanops.migration`.execute(db)).rows.length, 2)
})

t.test('a sweep that is interrupted is completed by the next one', async t => {
  const { db } = await startTestService(t, { ROLE: 'api' })
  await addUploading(db, newId(), '25 hours')
  const id = newId()
  await addRows(db, id, 60_000)
  const stopping = new AbortController()
  const sweeping = sweepUploads(db, stopping.signal)
  await until(async () => (await countRows(db)) < 60_000)
  stopping.abort()
  await sweeping
  t.ok((await countRows(db)) > 0, 'it stopped before the end')
  await sweepUploads(db)
  t.equal(await countRows(db), 0)
})

t.test('an upload that is still arriving after a day is not swept', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const { db, config } = service
  let id = ''
  async function* slowFile() {
    const [header, row] = repaymentsCsv({}).split('\n')
    yield Buffer.from(`${header}\n${`${row}\n`.repeat(2_000)}`)
    await until(async () => {
      id =
        (
          await sql<{ id: string }>`
        update loanops.migration set uploaded_at = now() - interval '25 hours'
         returning id`.execute(db)
        ).rows[0]?.id ?? ''
      return id !== ''
    })
    await until(async () => {
      const { rows } = await sql`
        select from loanops.migration where uploaded_at > now() - interval '1 minute'`.execute(db)
      return rows.length === 1
    }, 'a heartbeat')
    await sweepUploads(db)
    yield Buffer.from(`${row}\n`)
  }
  const context = { db, patient: db, beatEveryMs: 50 }
  t.equal(await upload(context, repaymentsOf(config), fileOf(slowFile()), asker), id)
  t.match((await service.call('GET', `/api/migration/${id}`)).body, { rows: 2_001 })
})

t.test('an upload that was considered abandoned is refused, and leaves no rows behind', async t => {
  const { db, config } = await startTestService(t, { ROLE: 'api' })
  async function* frozenFile() {
    const [header, row] = repaymentsCsv({}).split('\n')
    yield Buffer.from(`${header}\n${`${row}\n`.repeat(2_000)}`)
    await until(async () => (await countRows(db)) > 0)
    await sql`update loanops.migration set uploaded_at = now() - interval '25 hours'`.execute(db)
    await sweepUploads(db)
    yield Buffer.from(`${row}\n`)
  }
  const uploading = upload({ db, patient: db }, repaymentsOf(config), fileOf(frozenFile()), asker)
  await t.rejects(uploading, { code: 'UNAVAILABLE', message: /considered abandoned/ })
  await sweepUploads(db)
  t.equal(await countRows(db), 0)
})

async function addUploading(db: Database, id: string, age: string) {
  await sql`
    insert into loanops.migration (id, type, columns, delimiter, uploaded_at)
    values (${id}, 'repayments', '{}', ',', now() - ${age}::interval)`.execute(db)
}

async function addRows(db: Database, id: string, count: number) {
  await sql`
    insert into loanops.migration_row (migration_id, line, state, cells)
    select ${id}, line, 'valid', '[]'
     from generate_series(2, ${count}::integer + 1) as line`.execute(db)
}

async function countRows(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.migration_row`.execute(db)
  return rows[0]?.count ?? 0
}

function repaymentsOf({ lenders }: Config) {
  const kinds = migrationKinds(operationCatalogue(lenders))
  return { kind: rowKindOf(kinds.values(), 'repayments'), others: [], templates: '' }
}

const fileOf = (bytes: AsyncIterable<Buffer>) => ({ name: null, bytes, sha256: () => '' })
