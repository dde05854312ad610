import { once } from 'node:events'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { problemIn, rawHttp } from '../support/http/raw-http.ts'
import { clientData } from '../support/ledger/loans.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const BODY = JSON.stringify({ status: 'CLIENT_CREATE', data: clientData('C/1') })
const OPERATE = 'POST /api/ledger/operate'
const JSON_TYPE = 'content-type: application/json'

/** What clients of older services send, and the status of the answer. */
const REQUESTS: [what: string, head: string[], body: string | Buffer, status: number][] = [
  ['HTTP/1.0 without Host', [`${OPERATE} HTTP/1.0`, JSON_TYPE], BODY, 202],
  ['headers in capitals', [`${OPERATE} HTTP/1.1`, 'HOST: x', JSON_TYPE.toUpperCase()], BODY, 202],
  ['a charset', [`${OPERATE} HTTP/1.1`, 'host: x', `${JSON_TYPE}; charset="UTF-8"`], BODY, 202],
  ['a byte order mark', [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE], `\ufeff${BODY}`, 202],
  ['escaped slashes', [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE], BODY.replace('/', '\\/'), 202],
  ['the whole URL', ['POST http://x/api/ledger/operate HTTP/1.1', 'host: x', JSON_TYPE], BODY, 202],
  [
    'another expectation',
    [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE, 'expect: mercy'],
    BODY,
    202,
  ],
  [
    'an upgrade to HTTP/2',
    [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE, 'upgrade: h2c'],
    BODY,
    202,
  ],
  ...['identity', 'UTF-8', ''].map(
    encoding =>
      [
        `content-encoding: ${encoding}`,
        [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE, `content-encoding: ${encoding}`],
        BODY,
        202,
      ] as (typeof REQUESTS)[number],
  ),
  ...['gzip', 'X-GZIP', 'deflate', 'br', 'zstd'].map(
    encoding =>
      [
        `a body in ${encoding}`,
        [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE, `content-encoding: ${encoding}`],
        gzipSync(BODY),
        415,
      ] as (typeof REQUESTS)[number],
  ),
  ['no Host in HTTP/1.1', [`${OPERATE} HTTP/1.1`, JSON_TYPE], BODY, 400],
  [
    'a duplicate name',
    [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE],
    '{"status":1,"status":1}',
    400,
  ],
  [
    'the type of a form for an empty body',
    [
      'POST /api/payments/batch HTTP/1.1',
      'host: x',
      'content-type: application/x-www-form-urlencoded',
    ],
    '',
    202,
  ],
  [
    'the type of a form for what is none',
    [`${OPERATE} HTTP/1.1`, 'host: x', 'content-type: application/x-www-form-urlencoded'],
    BODY,
    415,
  ],
  [
    'a type that cannot be read',
    [`${OPERATE} HTTP/1.1`, 'host: x', `${JSON_TYPE} charset=utf-8`],
    BODY,
    415,
  ],
  ['the type twice', [`${OPERATE} HTTP/1.1`, 'host: x', JSON_TYPE, JSON_TYPE], BODY, 202],
  [
    'a type for a GET without a body',
    ['GET /api/ledger/operations HTTP/1.1', 'host: x', JSON_TYPE],
    '',
    200,
  ],
]

t.test('requests of clients of older services are taken, or refused in words', async t => {
  const { url } = await startTestService(t, { ROLE: 'api' })
  const send = (head: string[], body: string | Buffer) => {
    const length = `content-length: ${Buffer.byteLength(body)}`
    const lines = [...head, `x-internal-token: ${TOKEN}`, length, '', '']
    return rawHttp(url, Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from(body)]))
  }
  for (const [what, head, body, status] of REQUESTS) {
    const answer = await send(head, body)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), what)
    t.notMatch(answer, /transfer-encoding/i, 'no answer is chunked, which HTTP/1.0 does not know')
    if (status >= 400) t.match(problemIn(answer), { status, detail: / [a-z]+ / }, what)
    if (status === 415) t.match(problemIn(answer), { detail: /application\/json|compressed/ }, what)
  }
  const chunks = [BODY.slice(0, 20), BODY.slice(20), ''].map(
    chunk => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`,
  )
  const token = `x-internal-token: ${TOKEN}`
  const head = [
    `${OPERATE} HTTP/1.1`,
    'host: x',
    JSON_TYPE,
    token,
    'transfer-encoding: chunked',
    '',
    '',
  ]
  t.match(await rawHttp(url, head.join('\r\n') + chunks.join('')), /^HTTP\/1.1 202 /, 'in chunks')
})

t.test('a client that waits for 100 Continue gets it', async t => {
  const { call, url } = await startTestService(t, { ROLE: 'api' })
  const headers = {
    'x-internal-token': TOKEN,
    'content-type': 'application/json',
    expect: '100-continue',
  }
  const sent = request(`${url}/api/ledger/operate`, { method: 'POST', headers })
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.end(BODY)
  const [response] = await once(sent, 'response')
  t.equal(response.statusCode, 202)
  response.resume()
  t.equal((await call('GET', '/api/ledger/operations')).body.operations.length, 1)
})
