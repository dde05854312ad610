import t, { type Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { welcome } from '../../src/embedded/welcome.ts'
import { clientData } from '../support/ledger/loans.ts'
import { caller, startTestService } from '../support/service.ts'

const WRITES = 'a-token-that-may-write'

/** What a start with these settings prints, and the pages that it names. */
async function printedBy(t: Test, settings: NodeJS.ProcessEnv) {
  const { url, config } = await startTestService(t, {
    DOCS_ENABLED: 'true',
    CONSOLE_ENABLED: 'true',
    INTERNAL_TOKEN: `reports/read:a-token-that-may-read,${WRITES}`,
    ...settings,
  })
  const printed = welcome({ env: {}, folder: '', controls: {} }, url, config)
  const pages = [...printed.matchAll(/^ {2}(API|Console|Documentation) +(\S+)$/gm)]
  return { url, printed, pages: new Map(pages.map(([, name = '', page = '']) => [name, page])) }
}

t.test('the pages that a start prints exist, and its token may do what it is for', async t => {
  const port = await freePort(0)
  const { url, printed, pages } = await printedBy(t, { OPS_PORT: String(port) })
  t.same([...pages.keys()], ['API', 'Console', 'Documentation'])
  t.equal(pages.get('Documentation'), `http://127.0.0.1:${port}/docs`)
  for (const name of ['Console', 'Documentation'])
    t.equal((await fetch(pages.get(name) ?? '')).status, 200, name)
  const token = /X-Internal-Token: ([^']+)'/.exec(printed)?.[1]
  t.equal(token, WRITES)
  const body = { status: 'CLIENT_CREATE', data: clientData('C-1') }
  const headers = { 'x-internal-token': String(token) }
  t.equal((await caller(url)('POST', '/api/ledger/operate', body, headers)).status, 202)
})

t.test('a start prints nothing that its settings turn off', async t => {
  const off = { DOCS_ENABLED: 'false', CONSOLE_ENABLED: 'false' }
  t.same([...(await printedBy(t, off)).pages.keys()], ['API'])
  const worker = await printedBy(t, { ROLE: 'worker' })
  t.same([...worker.pages.keys()], ['Documentation'])
  t.notMatch(worker.printed, 'curl')
  const reads = await printedBy(t, { INTERNAL_TOKEN: 'reports/read:a-token-that-may-read' })
  t.notMatch(reads.printed, 'curl')
})
