import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { watchCase } from '../../../src/ledger/calls/watch-case.ts'
import { findLoan } from '../../../src/ledger/loans/loan-calls.ts'
import { NO_DATABASE, testEnv } from '../../support/service.ts'

t.test('a ledger that ignores case in external ids is reported, once', async t => {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ id: 1, externalId: 'L 1', status: { id: 300 } })),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`
  const ledger = openLedger(readConfig(testEnv(NO_DATABASE, url)))
  t.teardown(() => ledger.cutOff())
  const registry = new Registry()
  const warnings: string[] = []
  watchCase(registry, ledger, { warn: (_, line) => void warnings.push(line) })
  const shown = async () =>
    /^loanops_ledger_ignores_case (\d)$/m.exec(await registry.metrics())?.[1]

  await findLoan(ledger, 'L 1')
  t.same([await shown(), warnings.length], ['0', 0], 'the id that was asked for')
  await findLoan(ledger, 'l 1')
  await findLoan(ledger, 'l 1')
  t.equal(await shown(), '1')
  t.match(warnings, [/ignores case/])
  t.equal(warnings.length, 1)
})
