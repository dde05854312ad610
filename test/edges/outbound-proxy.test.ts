import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { openSingleSignOn } from '../../src/accounts/sign-on/single-sign-on.ts'
import { openGatewayCaller } from '../../src/books/apis/gateway-call.ts'
import { openCallbackSender } from '../../src/callbacks/sending/callback-sender.ts'
import { readConfig } from '../../src/config/config.ts'
import type { CallbackSettings } from '../../src/config/settings/callback-settings.ts'
import type { SignOnSettings } from '../../src/config/settings/sign-on-settings.ts'
import { connectionTrouble } from '../../src/http/connections/open-agent.ts'
import { logger } from '../../src/log/log.ts'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { NO_DATABASE, NO_LEDGER, testEnv } from '../support/service.ts'

/** A key for the tests alone, and its certificate for 127.0.0.1. */
const PEM = readFileSync(new URL('../support/loopback.pem', import.meta.url), 'utf8')

async function listening(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server on the internet, whose certificate this process trusts meanwhile: a gateway, an LOS and an issuer. */
function internet(t: Test) {
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, PEM])
  t.teardown(() => setDefaultCACertificates(trusted))
  const server = createHttps({ key: PEM, cert: PEM }, ({ headers: { host } }, response) => {
    response.setHeader('connection', 'close')
    const url = `https://${host}/`
    response.end(JSON.stringify({ issuer: url, authorization_endpoint: url }))
  })
  return listening(t, server)
}

/** @param status what it answers instead of connecting the caller */
async function proxy(t: Test, status?: number) {
  const asked: { target: string; authorization: string | undefined }[] = []
  const server = createHttp()
  server.on('connect', ({ url: target = '', headers }, socket) => {
    asked.push({ target, authorization: headers['proxy-authorization'] })
    if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const [host, port] = target.split(':')
    const onward = connect(Number(port), host)
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    socket.pipe(onward).pipe(socket)
    for (const one of [socket, onward]) one.on('error', () => undefined)
  })
  return { asked, url: `http://loanops:secret@${await listening(t, server)}` }
}

function configFor(place: string, settings: NodeJS.ProcessEnv) {
  return readConfig({
    ...testEnv(NO_DATABASE, NO_LEDGER),
    CALLBACK_URL: `https://${place}/`,
    CALLBACK_SECRET: callbackSecret(),
    OIDC_ISSUER: `https://${place}/`,
    OIDC_CLIENT_ID: 'loanops',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_ROLES: '{"desk":"operator"}',
    ...settings,
  })
}

/** Calls a gateway, the LOS and the issuer. @returns what became of each */
async function callAll(t: Test, place: string, settings: NodeJS.ProcessEnv) {
  const config = configFor(place, settings)
  const gateway = openGatewayCaller(
    { url: `https://${place}/v1`, headers: {}, proxy: config.proxy },
    undefined,
    { timeoutMs: 5_000, retryAfterMs: [], atOnce: 1 },
  )
  const sender = openCallbackSender(config.callbacks as CallbackSettings, 1)
  t.teardown(() => Promise.all([gateway.close(), sender.close()]))
  const log = logger('silent')
  let reason: string | undefined
  log.warn = (fields: { reason?: string }) => {
    reason = fields.reason
  }
  const signOn = openSingleSignOn(config.signOn as SignOnSettings, log)
  const { status, error } = await sender.send({
    id: '1',
    body: '{}',
    traceparent: null,
    at: new Date(),
  })
  return {
    gateway: await gateway.call({ method: 'GET', path: '/payments' }).then(
      () => 'answered',
      ({ message }) => message,
    ),
    callback: status ?? error,
    signOn: await signOn.begin('https://loanops.example/').then(
      () => 'begun',
      () => reason,
    ),
  }
}

const ANSWERED = { gateway: 'answered', callback: 200, signOn: 'begun' }

t.test('HTTPS calls to the internet go through HTTPS_PROXY, with user and password', async t => {
  const place = await internet(t)
  for (const name of ['HTTPS_PROXY', 'https_proxy']) {
    const { asked, url } = await proxy(t)
    // A copy of .env.example has the names in capitals, without a value.
    t.same(await callAll(t, place, { HTTPS_PROXY: '', [name]: url }), ANSWERED)
    const authorization = `Basic ${Buffer.from('loanops:secret').toString('base64')}`
    t.same(asked, Array(3).fill({ target: place, authorization }), name)
  }
})

t.test('a host that NO_PROXY names is called directly', async t => {
  const place = await internet(t)
  for (const settings of [
    { NO_PROXY: 'los.example.com, 127.0.0.1' },
    { NO_PROXY: '', no_proxy: '*' },
  ]) {
    const { asked, url } = await proxy(t)
    t.same(await callAll(t, place, { HTTPS_PROXY: url, ...settings }), ANSWERED)
    t.same(asked, [])
  }
})

t.test('a call that the proxy refuses says so', async t => {
  const { url } = await proxy(t, 407)
  t.match(await callAll(t, 'gateway.example:443', { HTTPS_PROXY: url }), {
    gateway: 'the proxy of HTTPS_PROXY answered 407',
    callback: 'the proxy of HTTPS_PROXY answered 407',
    signOn: 'the proxy of HTTPS_PROXY answered 407',
  })
})

t.test('a call that fails on TLS says what is wrong', async t => {
  const untrusted = createHttps({ key: PEM, cert: PEM })
  t.match(await callAll(t, await listening(t, untrusted), {}), {
    gateway: /signed by an authority that NODE_EXTRA_CA_CERTS must name/,
    callback: /signed by an authority that NODE_EXTRA_CA_CERTS must name/,
    signOn: /signed by an authority that NODE_EXTRA_CA_CERTS must name/,
  })
  const place = await internet(t)
  t.match(await callAll(t, place.replace('127.0.0.1', 'localhost'), {}), {
    gateway: 'the certificate is for another host',
    callback: 'the certificate is for another host',
    signOn: 'the certificate is for another host',
  })
  t.match(await callAll(t, await listening(t, createHttp()), {}), {
    gateway: 'TLS cannot be agreed: wrong version number',
    callback: 'TLS cannot be agreed: wrong version number',
    signOn: 'TLS cannot be agreed: wrong version number',
  })
})

t.test('the trouble with a certificate names only what mends it', async t => {
  const troubleOf = (code: string) => connectionTrouble(Object.assign(new Error(code), { code }))
  t.match(troubleOf('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /^the server does not send .*, nor does /)
  t.equal(troubleOf('CERT_HAS_EXPIRED'), 'the certificate is not valid today')
  t.equal(troubleOf('CERT_REVOKED'), undefined)
})

t.test('the log shows neither the proxy’s user nor its password', async t => {
  const { shown } = configFor('127.0.0.1:9', { HTTPS_PROXY: 'http://loanops:secret@proxy:3128' })
  t.notMatch(JSON.stringify(shown), 'secret@')
})
