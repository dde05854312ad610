import t from 'tap'
import { startWithConsole } from '../support/console/console.ts'
import { submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'

t.test('the operations under way are listed without those that wait', async t => {
  const { call, operator } = await startWithConsole(t, { ROLE: 'api' })
  const first = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  const second = await submit(call, 'CLIENT_UPDATE', { externalId: 'C-1', lastname: 'Rao' })
  const { text } = await operator('/console')
  const [, href = ''] = /href="([^"]+)" aria-label="under way: 1"/.exec(text) ?? []
  const list = await operator(href)
  const pathOf = (id: string) => `/console/operations/${encodeURIComponent(id)}`
  t.ok(list.text.includes(pathOf(first)), 'the one that is about to start')
  t.notOk(list.text.includes(pathOf(second)), 'the one that waits for it')
  t.match(list.text, '<strong>1 row</strong>')
})
