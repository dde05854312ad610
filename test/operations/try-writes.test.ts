import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { readLedgerSettings } from '../../src/config/ledger-settings.ts'
import type { Lender } from '../../src/config/lenders.ts'
import { tryWrites } from '../../src/operations/check-ledger/try-writes.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { atLedger, control, writesOn } from '../support/ledger/loans.ts'
import { ledgerBody, startProxy } from '../support/ledger/proxy.ts'
import { MAIN } from '../support/main.ts'
import { outputOf } from '../support/process.ts'
import { NO_LEDGER, testEnv } from '../support/service.ts'
import { until } from '../support/until.ts'

const NAME = 'loanops-check-test'

async function sandbox(t: Test, ...flags: string[]) {
  const { url, close } = await startSandbox({ port: 0, flags })
  t.teardown(close)
  const controlUrl = url.replace('/fineract-provider/api/v1', '/control')
  return { ledger: { url, controlUrl } }
}

function tried(url: string) {
  const { settings, lenders } = readLedgerSettings(testEnv('', url))
  return tryWrites(settings, lenders.get('LENDER_02') as Lender, NAME)
}

t.test('a client and a loan go through their life, and only the client stays', async t => {
  const service = await sandbox(t)
  const { findings, left } = await tried(service.ledger.url)
  t.match(findings, [{ check: 'idempotency', state: 'ok' }])
  t.same(left, [`the client ${NAME}, which can be closed at the ledger`])
  t.same(await writesOn(service, NAME), [
    'CREATE/CLIENT',
    'CREATE/LOAN',
    'APPROVE/LOAN',
    'DISBURSE/LOAN',
    'REPAYMENT/LOAN',
    'ADJUST/LOAN',
    'DISBURSALUNDO/LOAN',
    'APPROVALUNDO/LOAN',
    'DELETE/LOAN',
  ])
  const path = `/loans/external-id/${NAME}`
  t.equal((await atLedger(service, 'GET', path)).httpStatusCode, '404')
})

const FLAGS: [string[], object[]][] = [
  [['lost-external-ids'], [{ check: 'idempotency', state: 'differs', found: /external id/ }]],
  [
    ['maker-checker=DISBURSE_LOAN'],
    [
      {
        check: 'maker_checker',
        state: 'differs',
        found: /disburse it waits for a second person at the ledger$/,
      },
    ],
  ],
  [
    ['maker-checker=DISBURSE_LOAN', 'pending-409'],
    [{ check: 'maker_checker', state: 'differs', found: /answers 409/ }],
  ],
  [
    ['no-permission=ACTIVATE_CLIENT'],
    [{ check: 'office', state: 'breaks', found: /create a client: .*lacks a permission/ }],
  ],
  [['no-payment-type'], [{ check: 'idempotency', state: 'unknown', found: /payment type/ }]],
  [['charges=LENDER_02', 'recalculation=LENDER_02'], [{ check: 'idempotency', state: 'ok' }]],
]
for (const [flags, expected] of FLAGS)
  t.test(`writes show what ${flags.join(' and ')} changes, and nothing else`, async t => {
    const { ledger } = await sandbox(t, ...flags)
    const { findings } = await tried(ledger.url)
    t.equal(findings.length, expected.length)
    t.match(findings, expected)
  })

t.test('a proxy that hides that an answer is a stored one is named', async t => {
  const { ledger } = await sandbox(t)
  const proxy = await startProxy(t)
  proxy.target = ledger.url
  const alters = ({ headers }: { headers: Record<string, string> }) => {
    delete headers['x-served-from-cache']
  }
  proxy.interferences = [{ of: '', on: 'writes', alters }]
  const { findings } = await tried(proxy.url)
  t.match(findings, [{ check: 'idempotency', state: 'differs', found: /x-served-from-cache/ }])
})

t.test('reads that lag behind writes are named', async t => {
  const { ledger } = await sandbox(t)
  const proxy = await startProxy(t)
  proxy.target = ledger.url
  const body = ledgerBody(404, 'error.msg.client.id.invalid')
  proxy.interferences = [
    { of: `/clients/external-id/${NAME}`, on: 'reads', status: 404, body, times: 1 },
  ]
  const { findings } = await tried(proxy.url)
  t.match(findings, [{ check: 'idempotency', state: 'differs', found: /does not show yet/ }])
})

t.test('reads that lag behind the repayment are named', async t => {
  const { ledger } = await sandbox(t)
  const proxy = await startProxy(t)
  proxy.target = ledger.url
  const loan = `/loans/external-id/${NAME}`
  const body = ledgerBody(404, 'error.msg.loan.transaction.external.id.invalid')
  const alters = (answer: { body: any }) => {
    answer.body.transactions = answer.body.transactions.filter(({ type }: any) => !type.repayment)
  }
  proxy.interferences = [
    { of: `${loan}/transactions`, on: 'reads', status: 404, body },
    { of: `${loan}?associations=transactions`, on: 'reads', alters, times: 1 },
  ]
  const { findings } = await tried(proxy.url)
  t.match(findings, [{ check: 'idempotency', state: 'differs', found: /does not show yet/ }])
})

const LOST = {
  'a write whose answer is lost': { afterwards: true },
  'a repeat whose answer is lost': { afterwards: true, spares: 1 },
  'a write that a proxy turns away': { status: 503, body: '' },
}
for (const [what, interference] of Object.entries(LOST))
  t.test(`${what} shows nothing of the ledger’s set-up`, async t => {
    const { ledger } = await sandbox(t)
    const proxy = await startProxy(t)
    proxy.target = ledger.url
    proxy.interferences = [{ of: '/clients ', on: 'writes', ...interference }]
    const { findings } = await tried(proxy.url)
    t.match(findings, [{ check: 'idempotency', state: 'unknown', found: /^could not be tried/ }])
    t.equal(findings.length, 1)
  })

t.test('a loan that the user may not undo stays, and is named', async t => {
  const { ledger } = await sandbox(t, 'no-permission=DISBURSALUNDO_LOAN')
  const { findings, left } = await tried(ledger.url)
  t.match(findings, [{ check: 'idempotency', state: 'ok' }])
  t.match(left, [new RegExp(`^the loan ${NAME} \\(Active\\)$`), /^the client/])
})

function started(url: string, args: string[], answer: string) {
  const child = spawn(process.execPath, [MAIN, 'check-ledger', ...args], {
    env: { ...testEnv('', url), DATABASE_URL: '', PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(answer)
  return child
}

async function command(url: string, args: string[], answer: string) {
  return outputOf(started(url, args, answer))
}

t.test('the command writes only with the tenant repeated, and once somebody says yes', async t => {
  const service = await sandbox(t)
  const { url } = service.ledger
  const clients = async () => (await atLedger(service, 'GET', '/clients')).totalFilteredRecords
  const write = ['--write', '--tenant', 'default', '--json']
  const [bare, other, no, silent] = await Promise.all([
    command(url, ['--write'], 'yes\n'),
    command(url, ['--write', '--tenant', 'production'], 'yes\n'),
    command(url, write, 'no\n'),
    command(url, write, ''),
  ])
  for (const { code, said } of [bare, other]) {
    t.equal(code, 1)
    t.match(said, /--tenant default/)
  }
  for (const { said, printed } of [no, silent]) {
    t.match(said, /Nothing was written/)
    t.match(JSON.parse(printed), { left: [] })
  }
  t.equal(await clients(), 0)
  const yes = await command(url, write, 'yes\n')
  t.equal(yes.code, 0)
  const [, name] = /a loan named (loanops-check-\w+) at/.exec(yes.said) ?? []
  t.match(JSON.parse(yes.printed).left, [`the client ${name}, which can be closed at the ledger`])
  t.equal(await clients(), 1)
})

t.test('nothing is written while the read-only check finds what breaks every write', async t => {
  const { printed, said, code } = await command(
    NO_LEDGER,
    ['--write', '--tenant', 'default'],
    'yes\n',
  )
  t.equal(code, 2)
  t.match(said, /Nothing is written/)
  t.match(printed, /breaks +reachable/)
})

t.test('the records that a killed check left are named by the next one, and removed', async t => {
  const service = await sandbox(t)
  const { url } = service.ledger
  const write = ['--write', '--tenant', 'default', '--json']
  const match = { path: 'command=repayment|/transactions', on: 'writes' }
  await control(service, 'PUT', '/faults', [{ kind: 'hang', match }])
  const killed = started(url, write, 'yes\n')
  const said = text(killed.stderr)
  await until(async () => (await control(service, 'GET', '/counters')).faults.hang > 0)
  killed.kill('SIGKILL')
  const [, name = ''] = /a loan named (loanops-check-\w+) at/.exec(await said) ?? []
  await control(service, 'PUT', '/faults', [])
  const path = `/loans/external-id/${name}`
  t.match(await atLedger(service, 'GET', path), { status: { value: 'Active' } })

  const no = await command(url, write, 'no\n')
  t.same(JSON.parse(no.printed).left, [`the loan ${name} of an earlier check`])
  const yes = await command(url, write, 'yes\n')
  t.match(yes.said, `left ${name}: these loans are removed too`)
  t.match(JSON.parse(yes.printed).left, [new RegExp(`^the client ${name}`), /^the client/])
  t.equal((await atLedger(service, 'GET', path)).httpStatusCode, '404')
})
