import t from 'tap'
import { clientData, DAY } from '../support/ledger/loans.ts'
import { startTestService, TOKEN } from '../support/service.ts'

const DISBURSEMENT = { external_loan_id: 'L-1', actualDisbursementDate: DAY }

t.test('UNKNOWN_FIELDS=ignore drops unknown members, lists and counts them', async t => {
  const { call } = await startTestService(t, { ROLE: 'api', UNKNOWN_FIELDS: 'ignore' })
  const body = {
    status: 'CLIENT_CREATE',
    data: { ...clientData('C-1'), branchCode: 'PUN', शाखा: 1 },
    source: { system: 'LOS' },
  }
  const { status, body: accepted } = await call('POST', '/api/ledger/operate', body)
  t.equal(status, 202)
  const id = encodeURIComponent(accepted.tracking_id)
  const { body: found } = await call('GET', `/api/ledger/operations/${id}`)
  t.same(found.data, clientData('C-1'))
  t.same(found.ignored, ['data.branchCode', 'data.शाखा', 'source'])
  const { body: list } = await call('GET', '/api/ledger/operations')
  t.same(list.operations[0].ignored, found.ignored)
  const metrics = (await call('GET', '/metrics')).body as string
  for (const member of ['data.branchCode', 'other', 'source'])
    t.match(metrics, `loanops_ignored_members_total{member="${member}"} 1`)

  for (const [where, name, meant] of [
    ['/data', 'transactionAmmount', '/data/transactionAmount'],
    ['/data', 'transaction_amount', '/data/transactionAmount'],
    ['/data', 'TransactionAmount', '/data/transactionAmount'],
    ['/data', 'notes', '/data/note'],
    ['/data', 'utrPaymentId', '/data/utr_payment_id'],
    ['', 'transactionAmount', '/data/transactionAmount'],
    ['', 'dta', '/data'],
  ]) {
    const extra = { [name as string]: 5 }
    const sent =
      where === ''
        ? { status: 'LOAN_DISBURSE', data: DISBURSEMENT, ...extra }
        : { status: 'LOAN_DISBURSE', data: { ...DISBURSEMENT, ...extra } }
    const { body: refused } = await call('POST', '/api/ledger/operate', sent)
    const message = `is not a known field; ${meant} may be meant`
    t.same(refused.errors, [{ path: `${where}/${name}`, message }])
  }
  for (const name of ['loan_term_frequency_type', 'loan-term-frequency-type']) {
    const data = { externalId: 'L-1', principal: 5000, [name]: 'weeks' }
    const { body: refused } = await call('POST', '/api/ledger/operate', {
      status: 'LOAN_UPDATE',
      data,
    })
    const message = 'is not a known field; /data/loanTermFrequencyType may be meant'
    t.same(refused.errors, [{ path: `/data/${name}`, message }])
  }
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`extra${n}`, n]))
  const tooMany = { status: 'LOAN_DISBURSE', data: { ...DISBURSEMENT, ...many } }
  t.equal((await call('POST', '/api/ledger/operate', tooMany)).status, 400)
})

t.test('unknown members are refused by default', async t => {
  const { call } = await startTestService(t, { ROLE: 'api' })
  const { body } = await call('POST', '/api/ledger/operate', {
    status: 'LOAN_DISBURSE',
    data: { ...DISBURSEMENT, branchCode: 'PUN' },
    source: 'LOS',
  })
  t.same(body.errors.map((one: any) => one.path).sort(), ['/data/branchCode', '/source'])
  const { body: accepted } = await call('POST', '/api/ledger/operate', {
    status: 'LOAN_DISBURSE',
    data: DISBURSEMENT,
  })
  const path = `/api/ledger/operations/${encodeURIComponent(accepted.tracking_id)}`
  t.equal((await call('GET', path)).body.ignored, null)
})

t.test(
  'the paths of the specification take a trailing slash, and unknown parameters where a LOS calls',
  async t => {
    const { call, url } = await startTestService(t, { ROLE: 'api' })
    const body = { status: 'LOAN_DISBURSE', data: DISBURSEMENT }
    const { status, body: accepted } = await call('POST', '/api/ledger/operate/?source=LOS', body)
    t.equal(status, 202)
    const tracked = `/api/ledger/track/${accepted.tracking_id}`
    for (const path of [`${tracked}/`, `${tracked}?_=1`, `${tracked}/?wait=0&_=1`])
      t.equal((await call('GET', path)).body.tracking_id, accepted.tracking_id, path)
    t.equal((await call('GET', `${tracked}?wait=x`)).status, 400)

    const post = async (path: string) => {
      const headers = { 'x-internal-token': TOKEN, 'content-type': 'application/json' }
      const answer = await fetch(url + path, { method: 'POST', headers, body: '{}' })
      return [answer.status, ((await answer.json()) as { code: string }).code]
    }
    for (const path of [
      '/api/webhooks/gateway_a',
      '/api/webhooks/gateway_b',
      '/api/migration/upload',
      '/api/migration/run',
      '/api/account/login',
      '/api/account/register',
    ])
      t.same(await post(`${path}/`), await post(path), path)
    t.equal((await call('GET', '/api/payments/')).status, 404, 'and no others')
  },
)
