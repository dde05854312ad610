import { fastify } from 'fastify'
import { sql } from 'kysely'
import t from 'tap'
import { acceptFiles, takeFile } from '../../src/http/body/multipart.ts'
import { errorHandler } from '../../src/http/problem.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const field = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (name: string, text: string, filename = 'a.csv') =>
  `--b\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: text/csv\r\n\r\n${text}\r\n`
const END = '--b--\r\n'
const type = field('type', 'repayments')

t.test('a malformed upload gets a 400, and nothing that it contains is saved', async t => {
  const { url, db, call } = await startTestService(t, { ROLE: 'api' })
  const wrong: Record<string, string> = {
    'nothing at all': '',
    'no part': END,
    'another boundary': `${type}${file('file', 'a')}${END}`.replaceAll('--b', '--c'),
    'no end': `${type}${file('file', 'a,b')}`,
    'an end in the middle of a part': `${type}--b\r\ncontent-disposition: form-da`,
    'the file before its type': file('file', 'a') + type + END,
    'the type twice': type + type + file('file', 'a') + END,
    'two files': type + file('file', 'a') + file('file', 'a') + END,
    'an unknown field': field('__proto__', 'x') + file('file', 'a') + END,
    'an unknown type': field('type', 'constructor') + file('file', 'a') + END,
    'a field of a megabyte and more':
      field('type', 'x'.repeat(1_100_000)) + file('file', 'a') + END,
    'a name of 10,000 characters': field('x'.repeat(10_000), 'x') + file('file', 'a') + END,
    'a thousand fields': field('type', 'x').repeat(1_000) + file('file', 'a') + END,
    'a header of 100 KiB': `--b\r\ncontent-disposition: form-data; name="type"\r\nx: ${'x'.repeat(100_000)}\r\n\r\nloans\r\n${END}`,
    'a thousand headers': `--b\r\n${'a: b\r\n'.repeat(1_000)}\r\nloans\r\n${END}`,
    'an empty file': type + file('file', '') + END,
    'a file that is no CSV of ours': type + file('file', '\0\u0001', '../../etc/passwd') + END,
  }
  for (const [how, body] of Object.entries(wrong)) {
    const response = await fetch(`${url}/api/migration/upload`, {
      method: 'POST',
      headers: { 'x-internal-token': TOKEN, 'content-type': 'multipart/form-data; boundary=b' },
      body,
    })
    const problem: any = await response.json()
    t.match(problem, { status: 400, code: 'INVALID_PAYLOAD' }, how)
    t.equal(response.status, 400, how)
  }
  t.equal((await sql`select from ops.migration`.execute(db)).rows.length, 0)
  t.equal((await call('GET', '/readyz')).status, 200, 'the process is alive')
})

t.test('a file without a filename is said to need one', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  for (const path of [
    'migration/upload',
    'references/upload',
    'gateways/gateway_a/statement?lender=LENDER_02',
  ]) {
    const response = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { 'x-internal-token': TOKEN, 'content-type': 'multipart/form-data; boundary=b' },
      body: (path.startsWith('migration') ? type : '') + field('file', 'a,b') + END,
    })
    const message = 'must be sent as a file, with its filename: with curl, -F file=@name.csv'
    t.match(await response.json(), { status: 400, errors: [{ path: '/file', message }] }, path)
  }
})

t.test('a field with a filename is said to need none', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const form = new FormData()
  form.set('type', new Blob(['loans']), 'type')
  form.set('file', new Blob(['a,b']), 'loans.csv')
  const response = await fetch(`${url}/api/migration/upload`, {
    method: 'POST',
    headers: { 'x-internal-token': TOKEN },
    body: form,
  })
  const message =
    'must be sent as a field, without a filename: in Python, in data= instead of files='
  t.match(await response.json(), { status: 400, errors: [{ path: '/type', message }] })
})

t.test('a small file may come before its type, as some generated clients send it', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const header = 'loan_external_id,transaction_date,amount,payment_reference,gateway,note\n'
  const rows = (count: number) => `${header}${'L-1,12 February 2026,100,r-1,,x\n'.repeat(count)}`
  const upload = async (...parts: string[]) => {
    const response = await fetch(`${url}/api/migration/upload`, {
      method: 'POST',
      headers: { 'x-internal-token': TOKEN, 'content-type': 'multipart/form-data; boundary=b' },
      body: parts.join('') + END,
    })
    return response.json()
  }
  const small = file('file', rows(1))
  const taken = { type: 'repayments', file_name: 'a.csv', rows: 1, valid_rows: 1 }
  t.match(await upload(small, type), taken)
  const untyped = { path: '/type', message: 'is required before the file: loans or repayments' }
  t.match(await upload(small), { status: 400, errors: [untyped] })
  t.match(await upload(file('file', rows(150_000)), type), { status: 400, errors: [untyped] })
  const another = 'comes after the file, which must be the last part'
  t.match(await upload(small, type, small), { errors: [{ path: '/file', message: another }] })
  const unknown = { path: '/x', message: 'is not a known field' }
  t.match(await upload(small, field('x', 'y')), { status: 400, errors: [unknown] })
})

t.test('a content type without a boundary, or none at all, is refused', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const other = 'content-type: multipart/form-data'
  for (const [contentType, status, why] of [
    ['multipart/form-data', 400, 'has no boundary in its content-type'],
    ['multipart/form-data; boundary=', 400, 'malformed'],
    ['multipart/mixed; boundary=b', 415, other],
    ['text/csv', 415, other],
    ['application/json', 415, other],
  ] as const) {
    const response = await fetch(`${url}/api/migration/upload`, {
      method: 'POST',
      headers: { 'x-internal-token': TOKEN, 'content-type': contentType },
      body: type + file('file', 'a') + END,
    })
    t.equal(response.status, status, contentType)
    const { detail } = (await response.json()) as { detail: string }
    t.match(detail, why)
  }
})

t.test('a file of the largest size is taken, and one with a byte more is refused', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(errorHandler)
  await app.register(acceptFiles)
  app.post('/upload', request =>
    takeFile(request, [], { bytes: 10, text: '10 bytes' }, async taken => {
      let bytes = 0
      for await (const chunk of taken.bytes) bytes += chunk.length
      return { bytes }
    }),
  )
  const upload = async (text: string) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const body = file('file', text) + END
    return (await app.inject({ method: 'POST', url: '/upload', headers, body })).json()
  }
  t.same(await upload('x'.repeat(10)), { bytes: 10 })
  t.match(await upload('x'.repeat(11)), {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    detail: 'The file is larger than 10 bytes',
  })
})
