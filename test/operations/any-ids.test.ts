import t from 'tap'
import { ending, submit } from '../support/engine/operations.ts'
import {
  approval,
  clientData,
  control,
  disbursal,
  loanData,
  writesOn,
} from '../support/ledger/loans.ts'
import { EXTERNAL_IDS } from '../support/portfolio/external-ids.ts'
import { operate, startTestService } from '../support/service.ts'

const ids = EXTERNAL_IDS.map(kind => kind('a1'))
/** All operations on a client and a loan of this id, and on a loan that goes again. */
const work = (id: string, gone: string): [status: string, data: object][] => [
  ['CLIENT_CREATE', clientData(id)],
  ['CLIENT_UPDATE', { externalId: id, firstname: 'Meera' }],
  ['LOAN_CREATE', loanData(id, id)],
  ['LOAN_UPDATE', { externalId: id, principal: 40_000 }],
  ['LOAN_APPROVE', approval(id)],
  ['LOAN_DISBURSE', disbursal(id)],
  ['LOAN_CREATE', loanData(gone, id)],
  ['LOAN_DELETE', { external_loan_id: gone }],
]

t.test('an operation whose answer is lost is done once, whatever its external id', async t => {
  const service = await startTestService(t, { LEDGER_CONCURRENCY: '8' })
  const { call } = service
  // To the ledger's query of clients, the ids with % and _ are patterns, which these match.
  for (const decoy of ['a1\\;XY_2F', 'a1;Y_%2F'])
    t.match(await operate(call, 'CLIENT_CREATE', clientData(decoy)), { status: 'success' })
  await control(service, 'PUT', '/faults', [{ kind: 'drop', match: { on: 'writes' } }])
  const gone = EXTERNAL_IDS.map(kind => kind('b2'))
  const sent = []
  for (const [n, id] of ids.entries())
    for (const [status, data] of work(id, gone[n] as string))
      sent.push([await submit(call, status, data), `${status} ${id}`] as const)
  for (const [tracking, what] of sent)
    t.match(await ending(call, tracking), { status: 'success' }, what)
  for (const [n, id] of ids.entries()) {
    t.same(await writesOn(service, id), [
      'CREATE/CLIENT',
      'UPDATE/CLIENT',
      'CREATE/LOAN',
      'UPDATE/LOAN',
      'APPROVE/LOAN',
      'DISBURSE/LOAN',
    ])
    t.same(await writesOn(service, gone[n] as string), ['CREATE/LOAN', 'DELETE/LOAN'])
  }
})

t.test('a loan or client that does not exist is refused alike, by path or by query', async t => {
  const { call } = await startTestService(t)
  for (const [status, of] of Object.entries({
    LOAN_APPROVE: approval,
    LOAN_DELETE: (external_loan_id: string) => ({ external_loan_id }),
    LOAN_CREATE: (client: string) => loanData('L-new', client),
    CLIENT_UPDATE: (externalId: string) => ({ externalId, firstname: 'Meera' }),
  })) {
    const refusalOf = async (id: string) => {
      const { failure_response, error_message } = await operate(call, status, of(id))
      const { httpStatusCode, errors } = failure_response
      t.match(error_message, id, 'it names the id')
      return [httpStatusCode, errors[0].userMessageGlobalisationCode]
    }
    const byPath = await refusalOf('X404')
    t.equal(byPath[0], '404')
    t.same(await refusalOf('X/404'), byPath, status)
  }
})
