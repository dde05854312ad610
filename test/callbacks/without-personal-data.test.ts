import t from 'tap'
import { withoutPersonalData } from '../../src/callbacks/sending/without-personal-data.ts'

const data = { firstname: 'Li', lastname: 'M', mobileNo: '9198765432', note: '$& (paid' }

t.test('a short name is removed where it is a word, and stays in ids and codes', async t => {
  const value = {
    message: 'Li M (9198765432) is on the List of L-Li and Li_1; $& (paid',
    resourceId: 'Li',
  }
  t.same(withoutPersonalData(value, data), {
    message: '[removed] [removed] ([removed]) is on the List of L-Li and Li_1; [removed]',
    resourceId: 'Li',
  })
})

t.test('names and e-mail addresses that the operation does not name are removed too', async t => {
  const value = {
    loanOfficerName: 'Asha',
    timeline: { submittedByFirstname: 'Asha', approvedOnDate: [2026, 1, 5] },
    errors: [{ parameterName: 'clientId', developerMessage: "Duplicate entry 'asha@example.in'" }],
  }
  t.same(withoutPersonalData(value, data), {
    timeline: { approvedOnDate: [2026, 1, 5] },
    errors: [{ parameterName: 'clientId', developerMessage: "Duplicate entry '[removed]'" }],
  })
})
