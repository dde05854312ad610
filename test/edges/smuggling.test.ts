import t from 'tap'
import { problemIn } from '../support/http/raw-http.ts'
import { HEAD, survivingApi } from '../support/http/surviving.ts'

t.test('bytes that two servers could read as two different requests are refused', async t => {
  const { raw, test, url } = await survivingApi(t)

  test('a body with a contradictory or malformed length is refused', async t => {
    const body = '{"status":"x"}'
    const smuggled = `${body}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`
    for (const lengths of [
      `content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n`,
      `transfer-encoding: chunked\r\ncontent-length: ${body.length}\r\n`,
      `content-length: ${body.length}\r\ncontent-length: 0\r\n`,
      `content-length: ${body.length}, 0\r\n`,
      'content-length: +14\r\n',
      'content-length: 0x0e\r\n',
      'content-length: -1\r\n',
      `content-length : ${body.length}\r\n`,
      `content-length: ${body.length}\n x: y\r\n`,
      'transfer-encoding: chunked, identity\r\n',
      'transfer-encoding: xchunked\r\n',
      'transfer-encoding:\u000bchunked\r\n',
      'transfer-encoding: identity\r\n',
    ]) {
      const answer = await raw(
        `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}${lengths}\r\n${smuggled}`,
      )
      t.match(answer, /^HTTP\/1.1 400 /, JSON.stringify(lengths))
      t.match(problemIn(answer), { status: 400, code: 'INVALID_PAYLOAD' })
      t.equal(answer.match(/HTTP\/1.1/g)?.length, 1, 'nothing after it is answered')
    }
  })

  test('the refusal of a request that cannot be parsed says what is wrong with it', async t => {
    for (const [lines, reason] of [
      ['content-length: 2\r\ntransfer-encoding: chunked\r\n', 'Transfer-Encoding can'],
      ['content-length: 2\r\ncontent-length: 2\r\n', 'Duplicate Content-Length'],
      [' a: folded\r\n', 'Unexpected whitespace after header value'],
    ] as const) {
      const answer = await raw(`POST /api/ledger/operate HTTP/1.1\r\n${HEAD}${lines}\r\n{}`)
      const detail = new RegExp(`^This is no valid HTTP request: ${reason}`)
      t.match(problemIn(answer), { detail })
    }
    for (const [target, reason] of [
      ['/रमेश', 'its URL does not begin with /, or has a character that must be percent-encoded'],
      ['healthz', 'its URL does not begin with /'],
      ['/L 1', 'HTTP/1.1 does not follow its URL, in which a blank must be written %20'],
    ]) {
      const answer = await raw(`GET ${target} HTTP/1.1\r\n${HEAD}\r\n`)
      t.match(problemIn(answer), { detail: new RegExp(`${reason}`) })
    }
  })

  test('a request that names two hosts, or none that can be read, is refused', async t => {
    const { host } = new URL(url)
    for (const [target, hosts, status] of [
      ['/healthz', [host, 'other'], 400],
      ['/healthz', [host, host], 400],
      ['http://other/healthz', [host], 400],
      ['http://other@evil/console', [host], 400],
      ['ftp://x/healthz', ['x'], 400],
      ['/healthz', ['a:b:c'], 400],
      ['/healthz', ['['], 400],
      ['/healthz', ['%'], 400],
      ['/healthz', [`${host}@evil`], 400],
      ['/healthz', ['evil/.'], 400],
      ['/healthz', ['evil\\'], 400],
      ['/healthz', ['evil?'], 400],
      ['/healthz', ['evil#'], 400],
      ['/healthz', [''], 200],
      [`http://${host}/healthz`, [host], 200],
      ['/healthz', [host], 200],
    ] as const) {
      const lines = hosts.map(one => `host: ${one}\r\n`).join('')
      const answer = await raw(`GET ${target} HTTP/1.1\r\n${lines}\r\n`)
      t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), `${target} ${hosts}`)
      if (status === 400) t.match(problemIn(answer), { status, code: 'INVALID_PAYLOAD' })
    }
  })

  test('a chunk with a malformed length ends the connection', async t => {
    for (const chunk of [
      'zz\r\n{}\r\n0\r\n\r\n',
      '-2\r\n{}\r\n0\r\n\r\n',
      '2\n{}\n0\n\n',
      'ffffffffffffffffff\r\n{}',
    ]) {
      const answer = await raw(
        `POST /api/ledger/operate HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\n${chunk}`,
      )
      t.match(answer, /^HTTP\/1.1 400 /, JSON.stringify(chunk))
    }
  })

  test('input that is not HTTP is answered as such', async t => {
    for (const bytes of [
      '\u0016\u0003\u0001\u0002\u0000\u0001',
      'GET\r\n\r\n',
      'GET /x HTTP/9.9\r\n\r\n',
      'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: x\r\n a: folded\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\nna\u0000me: x\r\n\r\n`,
      'GET / HTTP/1.1\r\n\r\n',
    ])
      t.match(await raw(bytes), /^HTTP\/1.1 400 /, JSON.stringify(bytes))
  })
})
