import t, { type Test } from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { logger } from '../../src/log/log.ts'
import { startRole } from '../../src/role.ts'
import type { LoggedWrite } from '../../src/sandbox/storage/write-log.ts'
import { lendersFile } from '../support/config/lenders-file.ts'
import { attemptsOf, ending, hurry, submit } from '../support/engine/operations.ts'
import {
  clientData,
  control,
  disbursal,
  ledgerLoan,
  loanData,
  newName,
} from '../support/ledger/loans.ts'
import { type Interference, startProxy } from '../support/ledger/proxy.ts'
import { operate, startTestService, type TestService, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

type Given = { status: string; subject: string; data: object; client?: string }

const CASES: {
  what: string
  change: string
  given(service: TestService): Promise<Given>
  settings: Settings
}[] = [
  {
    what: 'a loan is created',
    change: 'its lender’s product was renamed',
    async given() {
      const [subject, client] = [newName('L'), newName('C')]
      return { status: 'LOAN_CREATE', subject, client, data: loanData(subject, client) }
    },
    settings: t => ({ LENDERS_FILE: lendersFile(t, { LENDER_01: { product: 'renamed' } }) }),
  },
  {
    what: 'a loan is disbursed',
    change: 'the payment type was renamed',
    async given(service) {
      const subject = await ledgerLoan(service, 'approved')
      const data = { ...disbursal(subject), utr_payment_id: 'UTR1' }
      return { status: 'LOAN_DISBURSE', subject, data }
    },
    settings: () => ({ LEDGER_PAYMENT_TYPE: 'renamed' }),
  },
  {
    what: 'a client is created',
    change: 'the office was changed',
    async given() {
      const subject = newName('C')
      return { status: 'CLIENT_CREATE', subject, data: clientData(subject) }
    },
    settings: () => ({ LEDGER_OFFICE_ID: '999' }),
  },
]
type Settings = (t: Test) => NodeJS.ProcessEnv

/** What may become of the first attempt's write, whose answer is lost. */
const FATES: Record<string, Partial<Interference>> = { applied: { afterwards: true }, lost: {} }

// Each waits for its second attempt.
t.jobs = 3

for (const { what, change, given, settings } of CASES)
  for (const [fate, interference] of Object.entries(FATES))
    t.test(`${what} once after its first write was ${fate}, although ${change}`, async t => {
      const proxy = await startProxy(t)
      const service = await startTestService(t, { ROLE: 'api' })
      proxy.target = service.ledger.url
      const first = await worker(t, service, proxy.url)
      const { status, subject, data, client } = await given(service)
      if (client) await operate(service.call, 'CLIENT_CREATE', clientData(client))
      proxy.interferences = [{ of: subject, on: 'writes', times: 1, ...interference }]
      const id = await submit(service.call, status, data)
      await until(async () => (await attemptsOf(service, id))[0], 'the first attempt')
      await first.close()
      await worker(t, service, proxy.url, settings(t))
      await hurry(service, id)
      t.match(await ending(service.call, id), { status: 'success' })
      const { log } = await control(service, 'GET', '/log?limit=1000')
      const command = status.split('_').reverse().join('/')
      const writes = (log as LoggedWrite[]).filter(
        one => one.externalId === subject && one.command === command,
      )
      t.equal(writes.length, 1)
    })

async function worker(t: Test, service: TestService, ledgerUrl: string, changes = {}) {
  const env = testEnv(service.databaseUrl, ledgerUrl, { ROLE: 'worker', ...changes })
  const role = await startRole(readConfig(env), logger('silent'))
  t.teardown(() => role.close())
  return role
}
