import t, { type Test } from 'tap'
import { dayFormat } from '../../../src/ledger/day-format.ts'
import { ending, listed, submit } from '../../support/engine/operations.ts'
import { LEDGER_HEADERS } from '../../support/ledger/ledger-driver.ts'
import { clientData, loanData, newName } from '../../support/ledger/loans.ts'
import { givenProduct } from '../../support/ledger/products.ts'
import { ledgerBody, startProxy } from '../../support/ledger/proxy.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** It tries once a minute. */
const BEFORE_NEXT_TRY_SECONDS = 25
/** The first is always a day or two ahead of the second. */
const AHEAD = 'Pacific/Kiritimati'
const BEHIND = 'Pacific/Pago_Pago'

async function start(
  t: Test,
  flags: string[],
  changes: NodeJS.ProcessEnv = {},
  proxy = { target: '' },
) {
  const service = await startTestService(t, changes, { flags })
  proxy.target = service.ledger.url
  const { call } = service
  const client = newName('C')
  t.match(await ending(call, await submit(call, 'CLIENT_CREATE', clientData(client))), {
    status: 'success',
  })
  const create = async (changes: object) => {
    const loan = { ...loanData(newName('L'), client), ...changes }
    return { loan: loan.externalId, id: await submit(call, 'LOAN_CREATE', loan) }
  }
  const waits = ({ loan, id }: { loan: string; id: string }, lastError: RegExp) =>
    until(async () => {
      const { waiting_for, last_error } = await listed(call, loan, id)
      return waiting_for === 'ledger_credentials' && lastError.test(last_error)
    }, `${loan} waits`)
  return { ...service, create, waits }
}

const dayIn = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone })
    .format()
    .replace(/^(\d) /, '0$1 ')

const isoDayIn = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format()

t.test('loans of a product that the ledger lacks wait until a check finds it', async t => {
  const service = await start(t, ['no-product=LENDER_03'])
  const { call, create, waits } = service
  const [missing, other] = [
    await create({ lenderConfig: 'LENDER_03' }),
    await create({ lenderConfig: 'LENDER_02' }),
  ]
  t.match(await ending(call, other.id), { status: 'success' }, 'no other lender’s waits')
  await waits(missing, /LENDER_03.*LENDERS_FILE/)
  const product = async () => {
    const { body } = await call('POST', '/api/ledger/check')
    return body.findings.find((one: any) => one.check === 'product' && one.lender === 'LENDER_03')
  }
  t.match(await product(), { state: 'breaks' })
  await givenProduct(service, 'LENDER_03')
  t.match(await product(), { state: 'ok' })
  t.match(await ending(call, missing.id, BEFORE_NEXT_TRY_SECONDS), { status: 'success' })
})

t.test('an application waits while its lender’s product is closed', async t => {
  const service = await start(t, ['no-product=LENDER_03'])
  const { call, create, waits } = service
  await givenProduct(service, 'LENDER_03', { ...dayFormat, closeDate: '31 December 2025' })
  await call('POST', '/api/ledger/check')
  await waits(
    await create({ lenderConfig: 'LENDER_03' }),
    /^product: the loan product LENDER_03 is closed/,
  )
  const early = await create({ lenderConfig: 'LENDER_03', submittedOnDate: '31 December 2025' })
  t.match(await ending(call, early.id), { status: 'failed' }, 'the product was open that day')
  const other = await create({ lenderConfig: 'LENDER_02' })
  t.match(await ending(call, other.id), { status: 'success' }, 'no other lender’s waits')
})

t.test('an application waits while its lender’s product refuses what LoanOps sends', async t => {
  const tranches = { multiDisburseLoan: true, maxTrancheCount: 3, outstandingLoanBalance: 50_000 }
  const products = {
    LENDER_03: { ...dayFormat, startDate: '01 January 2999' },
    LENDER_04: tranches,
    LENDER_05: { ...tranches, disallowExpectedDisbursements: true },
  }
  const missing = Object.keys(products).map(name => `no-product=${name}`)
  const service = await start(t, missing)
  const { call, create, waits } = service
  for (const [name, changes] of Object.entries(products)) await givenProduct(service, name, changes)
  await call('POST', '/api/ledger/check')
  await waits(
    await create({ lenderConfig: 'LENDER_03' }),
    /^product: the loan product LENDER_03 takes no loans before 01 January 2999/,
  )
  await waits(
    await create({ lenderConfig: 'LENDER_04' }),
    /^product: the loan product LENDER_04 wants the tranches of each loan/,
  )
  const free = await create({ lenderConfig: 'LENDER_05' })
  t.match(await ending(call, free.id), { status: 'success' }, 'it wants no tranches')
})

t.test('an application waits while its lender’s product has a floating rate', async t => {
  const proxy = await startProxy(t)
  const service = await start(t, [], { LEDGER_URL: proxy.url }, proxy)
  const { call, create, waits } = service
  const code =
    'validation.msg.loan.interestRatePerPeriod.not.supported.loanproduct.linked.to.floating.rate'
  proxy.interferences = [
    {
      of: '/loanproducts',
      on: 'reads',
      alters({ body }) {
        for (const one of [body].flat())
          one.isLinkedToFloatingInterestRates = one.name === 'LENDER_03'
      },
    },
    { of: 'floating', on: 'writes', status: 400, body: ledgerBody(400, code) },
  ]
  await call('POST', '/api/ledger/check')
  const floating = { lenderConfig: 'LENDER_03', externalId: 'floating' }
  await waits(await create(floating), /^product: the loan product LENDER_03 has a floating rate/)
})

t.test('a refusal that the ledger stored does not outlast the correction', async t => {
  const flags = ['no-permission=ACTIVATE_CLIENT']
  const { call, ledger } = await startTestService(t, {}, { flags })
  const client = newName('C')
  const id = await submit(call, 'CLIENT_CREATE', clientData(client))
  await until(
    async () => (await listed(call, client, id)).waiting_for === 'ledger_credentials',
    'it waits for the permission',
  )
  const granted = await fetch(`${ledger.url}/roles/1/permissions`, {
    method: 'PUT',
    headers: LEDGER_HEADERS,
    body: JSON.stringify({ permissions: { ACTIVATE_CLIENT: true } }),
  })
  t.equal(granted.status, 200)
  await call('POST', '/api/ledger/check')
  t.match(await ending(call, id, BEFORE_NEXT_TRY_SECONDS), { status: 'success' })
})

t.test('an amount that a product’s currency cannot hold waits for the currency', async t => {
  const { call, create, waits } = await start(t, ['decimals=0'])
  const before = await create({ lenderConfig: 'LENDER_02', principal: 10_000.5 })
  t.match(await ending(call, before.id), { status: 'failed' }, 'nothing is known of the set-up yet')
  await call('POST', '/api/ledger/check')
  await waits(
    await create({ lenderConfig: 'LENDER_02', principal: 10_000.5 }),
    /^currency: .*INR with 0 decimals.*INR with 2 decimals/,
  )
  const whole = await create({ lenderConfig: 'LENDER_02', principal: 10_000 })
  t.match(await ending(call, whole.id), { status: 'success' })
})

t.test('a day that is only in the ledger’s future waits until the ledger has that day', async t => {
  const { call, ledger } = await start(t, [`timezone=${BEHIND}`], { LEDGER_TIMEZONE: AHEAD })
  const { findings } = (await call('POST', '/api/ledger/check')).body
  t.match(
    findings.find((one: any) => one.check === 'time_zone'),
    { state: 'breaks' },
  )
  const activated = async (activationDate: string) => {
    const client = newName('C')
    const id = await submit(call, 'CLIENT_CREATE', { ...clientData(client), activationDate })
    return { client, id }
  }
  const today = await activated(dayIn(AHEAD))
  await until(async () => {
    const { last_error } = await listed(call, today.client, today.id)
    return /^time_zone: .*LEDGER_TIMEZONE/.test(last_error ?? '')
  }, 'it waits for the time zone')
  const later = await activated('05 January 2099')
  t.match(await ending(call, later.id), { status: 'failed' }, 'it is in everybody’s future')
  const body = JSON.stringify({ date: isoDayIn(AHEAD) })
  await fetch(`${ledger.controlUrl}/business-date`, { method: 'PUT', body })
  await call('POST', '/api/ledger/check')
  t.match(await ending(call, today.id, BEFORE_NEXT_TRY_SECONDS), { status: 'success' })
})
