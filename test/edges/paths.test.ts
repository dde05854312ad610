import t from 'tap'
import { problemIn } from '../support/http/raw-http.ts'
import { HEAD, survivingApi } from '../support/http/surviving.ts'
import { uploadCsv } from '../support/portfolio/migrate.ts'
import { repaymentsCsv } from '../support/portfolio/rows.ts'

t.test('a path or query that could be read in two ways is refused', async t => {
  const { call, raw, test, url } = await survivingApi(t)

  test('a malformed tracking id is refused, and an unknown one is not found', async t => {
    const uuid = '019a0000-0000-7000-8000-000000000000'
    for (const id of [
      'x',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f',
      `LOAN_CREATE%7C${uuid}%00`,
      `LOAN_CREATE%7C${uuid}'--`,
      `LOAN_CREATE|${uuid}x`,
      `LOAN_CREATE%257C${uuid}`,
      '%',
      '%zz',
      '%c3%28',
      'x'.repeat(513),
      '%0d%0aset-cookie:a=b',
    ]) {
      const { status, body, headers } = await call('GET', `/api/ledger/track/${id}`)
      t.equal(status, 400, id)
      t.equal(body.code, 'INVALID_TRACKING_ID')
      t.match(body.detail, /encode its bar once, as %7C$/)
      t.equal(headers.get('set-cookie'), null)
    }
    for (const path of ['../operations/x', `LOAN_CREATE%7C${uuid}/../../x`, `a/b`]) {
      const answer = await raw(`GET /api/ledger/track/${path} HTTP/1.1\r\n${HEAD}\r\n`)
      t.match(problemIn(answer), { status: 404, code: 'NOT_FOUND' }, path)
    }
    for (const id of [
      `LOAN_CREATE|${uuid}`,
      `LOAN_CREATE%7C${uuid}`,
      `LOAN_CREATE%7C${uuid}/`,
      `LOAN_CREATE%7C${uuid.toUpperCase()}`,
      `NO_SUCH%7C${uuid}`,
    ]) {
      const answer = await raw(`GET /api/ledger/track/${id} HTTP/1.1\r\n${HEAD}\r\n`)
      t.match(problemIn(answer), { status: 404, code: 'UNKNOWN_TRACKING_ID' }, id)
    }
  })

  test('an id in capitals, as some databases show it, finds what it names', async t => {
    const { body: batch } = await call('POST', '/api/payments/batch')
    const { body: upload } = await uploadCsv({ url }, 'repayments', repaymentsCsv({}))
    for (const [path, id] of [
      ['payments/batches', batch.batch_id],
      ['migration', upload.migration_id],
    ]) {
      const { status, body } = await call('GET', `/api/${path}/${id.toUpperCase()}`)
      t.equal(status, 200, path)
      t.ok(Object.values(body).includes(id), path)
    }
  })

  test('an invalid query is refused, field by field', async t => {
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=1e2',
      'limit=true',
      'limit=',
      'limit=5&limit=6',
      'limit=00000000000000050000',
      'cursor=x',
      'cursor=WyInIG9yIDE9MSJd',
      'external_id=%00',
      'external_id=a%0ab',
      'status=done',
      'operation_type=constructor',
      '__proto__=1',
      '__proto__[x]=1',
      'unknown=1',
      'external_id[]=x',
      'limit[$gt]=1',
      'external_id=Jos%E9',
      'external_id=50%',
      'limit=1&%ff=1',
    ]) {
      const { status, body } = await call('GET', `/api/ledger/operations?${query}`)
      t.equal(status, 400, query)
      t.equal(body.code, 'INVALID_QUERY')
      t.ok(body.errors[0].path.startsWith('/'), query)
    }
    for (const wait of ['-1', '31', 'x', '1.5', '1e1']) {
      const { status, body } = await call(
        'GET',
        `/api/ledger/track/LOAN_CREATE%7C019a0000-0000-7000-8000-000000000000?wait=${wait}`,
      )
      t.equal(status, 400, wait)
      t.match(body, { code: 'INVALID_QUERY', errors: [{ path: '/wait' }] })
    }
  })
})
