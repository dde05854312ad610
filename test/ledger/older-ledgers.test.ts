import t, { type Test } from 'tap'
import { readLedgerSettings } from '../../src/config/ledger-settings.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { checkLedger } from '../../src/ledger/check/check-ledger.ts'
import { openCalendar } from '../../src/ledger/reference/calendar.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { containerBody, startProxy } from '../support/ledger/proxy.ts'
import { testEnv } from '../support/service.ts'

const DATE = '2025-01-01'

/** A ledger of version 1.10, whose business date is set, and switched on or off. */
async function older(t: Test, enabled: boolean) {
  const sandbox = await startSandbox({ port: 0, flags: [`business-date=${DATE}`] })
  t.teardown(sandbox.close)
  const proxy = await startProxy(t)
  proxy.target = sandbox.url
  const switches = [
    { name: 'maker-checker', enabled: false },
    { name: 'enable_business_date', enabled },
  ]
  proxy.interferences = [
    { of: '/configurations/name/', on: 'reads', status: 500 },
    { of: '/configurations', on: 'reads', status: 200, body: { globalConfiguration: switches } },
  ]
  const { settings } = readLedgerSettings(testEnv('', proxy.url))
  const ledger = openLedger(settings)
  t.teardown(() => ledger.close())
  return { settings, calendar: openCalendar(ledger, settings) }
}

t.test('the business date of an older ledger counts only while it is switched on', async t => {
  t.equal(await (await older(t, true)).calendar.businessDate(), DATE)
  t.not(await (await older(t, false)).calendar.businessDate(), DATE)
})

t.test('the check finds a ledger that has no calls by external id', async t => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(sandbox.close)
  const proxy = await startProxy(t)
  proxy.target = sandbox.url
  const versionOf = async () => {
    const { settings } = readLedgerSettings(testEnv('', proxy.url))
    return (await checkLedger({ settings, lenders: [], needed: [] })).find(
      one => one.check === 'version',
    )
  }
  t.match(await versionOf(), { state: 'unknown' })
  const status = 404
  proxy.interferences = [{ of: '/external-id/', on: 'reads', status, body: containerBody(status) }]
  t.match(await versionOf(), {
    state: 'breaks',
    remedy: 'Upgrade the ledger to Fineract 1.9 or later',
  })
})

t.test('the check of an older ledger finds a business date that is not today', async t => {
  const { settings } = await older(t, true)
  const found = (await checkLedger({ settings, lenders: [], needed: [] })).find(
    one => one.check === 'business_date',
  )
  t.match(found, { state: 'differs', found: /^it is 2025-01-01/ })
})
