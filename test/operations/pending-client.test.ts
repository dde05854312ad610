import t from 'tap'
import { atLedger, DAY } from '../support/ledger/loans.ts'
import { operate, startTestService } from '../support/service.ts'

t.test('an activation date on a pending client is not reported as a success', async t => {
  const service = await startTestService(t)
  const person = { officeId: 1, legalFormId: 1, firstname: 'Asha', lastname: 'Rao' }
  await atLedger(service, 'POST', '/clients', { ...person, externalId: 'C-1', active: false })
  const change = { externalId: 'C-1', mobileNo: '9990001111', activationDate: DAY }
  t.match(await operate(service.call, 'CLIENT_UPDATE', change), {
    status: 'failed',
    failure_response: {
      httpStatusCode: '409',
      userMessageGlobalisationCode: 'loanops.client.not.active',
    },
  })
  const client = await atLedger(service, 'GET', '/clients/external-id/C-1')
  t.match(client, { active: false, mobileNo: undefined }, 'nothing was changed')
  const { activationDate: _, ...rest } = change
  t.match(await operate(service.call, 'CLIENT_UPDATE', rest), { status: 'success' })
})
