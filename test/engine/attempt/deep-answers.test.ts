import t from 'tap'
import { callbackReceiver } from '../../support/callbacks/callback-receiver.ts'
import { ending, submit } from '../../support/engine/operations.ts'
import { clientData } from '../../support/ledger/loans.ts'
import { startProxy } from '../../support/ledger/proxy.ts'
import { startTestService } from '../../support/service.ts'

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

t.test('an answer that is nested thousands deep keeps nothing from ending', async t => {
  const proxy = await startProxy(t)
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, { ...receiver.settings, LEDGER_URL: proxy.url })
  proxy.target = service.ledger.url
  const clients = ['C-3000', 'C-6000']
  for (const of of clients) {
    const body = `{"clientId":1,"resourceId":1,"changes":${nested(Number(of.slice(2)))}}`
    proxy.interferences.push({ of, on: 'writes', afterwards: true, status: 200, body, times: 1 })
    const id = await submit(service.call, 'CLIENT_CREATE', clientData(of))
    t.match(await ending(service.call, id), { status: 'success' })
  }
  await receiver.attempts(2)
  t.same(receiver.received.map(({ body }) => body.data.external_id).sort(), clients)
})
