import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { freePort } from '../../../src/embedded/free-port.ts'
import { causeOfRefusal } from '../../../src/ledger/answers/remedy.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { ledgerPath } from '../../../src/ledger/calls/path.ts'
import { unanswered } from '../../../src/ledger/calls/send.ts'
import { warnOfRefusals } from '../../../src/ledger/calls/warn-of-refusals.ts'
import { startSandbox } from '../../../src/sandbox/server.ts'
import { containerBody } from '../../support/ledger/proxy.ts'
import { NO_DATABASE, testEnv } from '../../support/service.ts'

const PEM = readFileSync(fileURLToPath(new URL('../../support/loopback.pem', import.meta.url)))
/** More than the circuit takes to open. */
const READS = 6

t.test('a fault of the connection to the ledger names its setting', async t => {
  const sandbox = await startSandbox({ port: 0 })
  const strange = createServer({ key: PEM, cert: PEM }, (_, response) => response.end('[]'))
  await new Promise<void>(done => strange.listen(0, '127.0.0.1', done))
  t.teardown(async () => {
    await sandbox.close()
    strange.close()
  })
  const tls = `https://127.0.0.1:${(strange.address() as AddressInfo).port}/api/v1`
  const { origin } = new URL(sandbox.url)
  for (const [url, changes, message] of [
    [sandbox.url, { LEDGER_PASSWORD: 'wrong-1' }, /^the ledger refuses .* LEDGER_PASSWORD; /],
    [
      sandbox.url,
      { LEDGER_TENANT: 'nobody' },
      /^the ledger has no such tenant: correct LEDGER_TENANT/,
    ],
    [`${origin}/other/api/v1`, {}, /^this is not the ledger’s API: correct LEDGER_URL, /],
    [tls, {}, /^no answer \(DEPTH_ZERO_SELF_SIGNED_CERT\): .* set LEDGER_CA_FILE /],
    [tls.replace('https', 'http').replace('/api', '/other/api'), {}, /^no answer/],
    [`${origin.replace('http:', 'https:')}/api/v1`, {}, /port does not speak TLS: .*LEDGER_URL/],
    [
      `http://127.0.0.1:${await freePort(0)}/api/v1`,
      {},
      /: nothing listens at .* LEDGER_URL, or start the ledger$/,
    ],
  ] as const)
    t.match(await whyUnreadable(t, url, changes), message)
  const unknownHost = Object.assign(new Error(), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
  t.match(
    unanswered(unknownHost, { method: 'GET', path: ledgerPath(['loans']) }).message,
    /host cannot be found: correct the host in LEDGER_URL$/,
  )
})

t.test('a 401 that is not the ledger’s own does not blame the password alone', t => {
  const ofGateway = causeOfRefusal(401, { message: 'No API key found in request' })
  const page = causeOfRefusal(401, '<html>Sign in</html>')
  for (const cause of [ofGateway, page])
    t.match(cause, {
      found: /something in front of it/,
      remedy: /^let .* otherwise correct LEDGER_U/,
    })
  t.notMatch(causeOfRefusal(401, containerBody(401)).found, /in front/)
  t.end()
})

t.test('a call that is not sent to a ledger that is down still says why it is down', async t => {
  const url = `http://127.0.0.1:${await freePort(0)}/api/v1`
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url)))
  t.teardown(() => ledger.cutOff())
  const path = ledgerPath(['loanproducts'])
  for (let n = 0; n < READS; n++) await ledger.read(path).catch(() => undefined)
  t.ok(ledger.breaker.isOpen())
  await t.rejects(ledger.read(path), {
    message: /^the ledger is down: no answer \(ECONNREFUSED\): nothing listens /,
  })
})

t.test('the log says once what must be corrected, without the ledger’s own words', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const settings = testEnv(NO_DATABASE, sandbox.url, { LEDGER_PASSWORD: 'wrong-1' })
  const ledger = openLedger(readConfig(settings))
  t.teardown(() => ledger.cutOff())
  const lines: string[] = []
  warnOfRefusals(ledger, { warn: (_, line) => void lines.push(line) })
  for (let n = 0; n < 2; n++) await t.rejects(ledger.read(ledgerPath(['loanproducts'])))
  t.same(lines, [
    'the ledger cannot be used: the ledger refuses its user or the password: correct LEDGER_USERNAME or LEDGER_PASSWORD; the user may be locked or disabled at the ledger, or the ledger may accept OAuth2 alone, which LoanOps does not use',
  ])
})

async function whyUnreadable(t: Test, url: string, changes: NodeJS.ProcessEnv): Promise<string> {
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url, changes)))
  t.teardown(() => ledger.cutOff())
  return ledger.read(ledgerPath(['loanproducts'])).then(
    () => 'it can be read',
    (error: Error) => error.message,
  )
}
