import t from 'tap'
import { trimmed } from '../../src/database/trimmed.ts'
import { atLedger } from '../support/loans.ts'
import { uploadCsv } from '../support/migrate.ts'
import { ending, submit } from '../support/operations.ts'
import { loansCsv } from '../support/rows.ts'
import { startTestService } from '../support/service.ts'

const ENDS = [
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u3000',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  ' \u200b\u00a0 ',
]

t.test('an operation takes its texts, ids and days without blanks at their ends', async t => {
  const service = await startTestService(t)
  const { call } = service
  const data = {
    firstname: 'Asha',
    lastname: 'Rao',
    externalId: 'C-1',
    activationDate: '05 January 2026',
    mobileNo: '+919876543210',
    emailAddress: 'asha@example.in',
  }
  const texts = Object.entries(data).map(([name, text], n) => [name, ENDS[n] + text + ENDS[n + 4]])
  const id = await submit(call, 'CLIENT_CREATE', Object.fromEntries(texts))
  t.match(await ending(call, id), { status: 'success' })
  const { body } = await call('GET', `/api/ledger/operations/${encodeURIComponent(id)}`)
  t.same(body.data, data)
  const client = await atLedger(service, 'GET', '/clients/external-id/C-1')
  t.match(client, { mobileNo: data.mobileNo, emailAddress: data.emailAddress })
  const found = await call(
    'GET',
    `/api/ledger/operations?external_id=${encodeURIComponent(' C-1\u200b')}`,
  )
  t.equal(found.body.operations.length, 1, 'a filter is trimmed too')
})

t.test('a text of nothing but blanks is refused', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  for (const firstname of ENDS) {
    const data = {
      firstname,
      lastname: 'Rao',
      externalId: 'C-1',
      activationDate: '05 January 2026',
    }
    const { status } = await call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data })
    t.equal(status, 400, JSON.stringify(firstname))
  }
})

t.test('a CSV takes its cells without them too', async t => {
  const service = await startTestService(t, { ROLE: 'api' })
  const padded = (text: string) => `${ENDS.at(-1)}${text}\u200d`
  const file = loansCsv({ loan_external_id: padded('L-1'), client_mobile_no: padded('98765') })
  const { body } = await uploadCsv(service, 'loans', file)
  t.match(body, { valid_rows: 1, invalid_rows: 0 })
})

t.test('a joiner that belongs to the last letter of a name stays', async t => {
  t.equal(trimmed('\u200dक्\u200d\u200b '), 'क्\u200d')
})
