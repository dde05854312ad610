import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openLedger, type Writer } from '../../../src/ledger/calls/client.ts'
import * as clientCalls from '../../../src/ledger/client-record.ts'
import * as loanCalls from '../../../src/ledger/loans/loan-calls.ts'
import { NO_DATABASE, testEnv } from '../../support/service.ts'

/** What a call takes: a reader or a writer, then one or two ids. */
type Call = (of: object, id: string, other: string) => Promise<unknown>

/** Nor does a caller's text get into the path of one by the ledger's own number, or by a query. */
const WITHOUT_ID = [
  'createClient',
  'submitLoan',
  'clientNumbered',
  'clientsWithMobile',
  'isTransactionOfAnotherLoan',
]
const NO_CALLS = ['hasClientFields', 'clientDifferences', 'clientAnswer']
const undoTransaction: Call = (writer, id, externalId) =>
  loanCalls.undoTransaction(writer as Writer, id, { id: 7, externalId }, {})
const CALLS = Object.entries({ ...clientCalls, ...loanCalls, undoTransaction } as unknown as Record<
  string,
  Call
>).filter(([name]) => ![...WITHOUT_ID, ...NO_CALLS].includes(name))
const ONE_STEP = ['a?b=c', 'a#b', 'a b', 'é', '...']
const NOT_IN_PATHS = ['a/b', '../../users/1', 'a\\b', 'a;b', 'a%2Fb']
const NO_STEP = ['', '.', '..', '\ud800']

t.test('each call to the ledger reaches only the resource that its ids name', async t => {
  const { ledger, targets } = await startLedger(t)
  t.ok(CALLS.length > 10)
  for (const [name, call] of CALLS) {
    const targetOf = async (id: string, other: string) => {
      targets.length = 0
      await (async () => call({ ...ledger, ledger, key: 'k' }, id, other))().catch(() => undefined)
      return targets[0]
    }
    const plain = await targetOf('first', 'second')
    t.match(plain, /\/first\b/, name)
    for (const id of ONE_STEP) {
      const step = encodeURIComponent(id)
      t.equal(await targetOf(id, 'second'), plain?.replace('first', step), `${name} ${id}`)
      t.equal(await targetOf('first', id), plain?.replace('second', step), `${name} ${id}`)
    }
    for (const id of NOT_IN_PATHS) {
      const target = new URL((await targetOf(id, 'second')) ?? '', 'http://ledger')
      const asked = target.searchParams.get('externalId')
      t.match(target.pathname, /^\/api\/v1\/(loans|clients)$/, `${name} ${id}`)
      t.equal(asked?.replace(/\\([\\%_])/g, '$1'), id, `${name} ${id}`)
    }
    for (const id of NO_STEP) {
      t.equal(await targetOf(id, 'second'), undefined, `${name} ${id}`)
      if (plain?.includes('second'))
        t.equal(await targetOf('first', id), undefined, `${name} ${id}`)
    }
  }
})

t.test('a write uses the number that its attempt has just read, and a look asks again', async t => {
  const listed = { totalFilteredRecords: 1, pageItems: [{ id: 7, externalId: 'LN/1' }] }
  const { ledger, targets } = await startLedger(t, url =>
    url.includes('externalId=') ? listed : { id: 7, externalId: 'LN/1' },
  )
  await loanCalls.readLoan(ledger, 'LN/1')
  await loanCalls.approveLoan({ ledger, key: 'k' }, 'LN/1', {})
  await loanCalls.findLoan(ledger, 'LN/1')
  const [query, loan] = ['/loans?externalId=LN%2F1', '/loans/7']
  t.same(
    targets.map(target => target?.replace('/api/v1', '')),
    [query, loan, `${loan}?command=approve`, query, loan],
  )
})

t.test('an answer to another call does not prove that a record is absent', async t => {
  const others = { totalFilteredRecords: 1, pageItems: [{ id: 5, externalId: 'LN/2' }] }
  for (const answer of [[], [{ id: 1, name: 'Head office' }], { id: 5 }, {}, others]) {
    const { ledger } = await startLedger(t, () => answer)
    await t.rejects(loanCalls.findLoan(ledger, 'LN/1'), JSON.stringify(answer))
  }
})

t.test('a loan is read with its transactions, or not at all', async t => {
  for (const [body, isWhole] of [
    [{ id: 7, externalId: 'L-1', transactions: [] }, true],
    [{ id: 7, externalId: 'L-1' }, false],
    [{ id: 7, externalId: 'L-1', timeline: {} }, true],
    [{ id: 7, externalId: 'L-1', timeline: { actualDisbursementDate: [2026, 1, 5] } }, false],
    [{ id: 7, transactions: [] }, false],
  ] as const) {
    const { ledger } = await startLedger(t, () => body)
    const read = loanCalls.findLoan(ledger, 'L-1', 'transactions')
    const [loan] = await Promise.allSettled([read])
    t.equal(loan.status, isWhole ? 'fulfilled' : 'rejected', JSON.stringify(body))
  }
})

async function startLedger(t: Test, answerTo: (url: string) => object = () => []) {
  const targets: (string | undefined)[] = []
  const server = createServer((request, response) => {
    targets.push(request.url)
    response.end(JSON.stringify(answerTo(request.url ?? '')))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url)))
  t.teardown(async () => {
    await ledger.close()
    server.close()
  })
  return { ledger, targets }
}
