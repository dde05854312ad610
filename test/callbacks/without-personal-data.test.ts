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

t.test('an e-mail address is removed as a whole, however long it is', async t => {
  for (const name of ['a', 'n'.repeat(64), 'n'.repeat(150), 'n'.repeat(1_000_000)])
    t.same(withoutPersonalData({ message: `(${name}@example.in), <b@c.in>;d@e.in` }, data), {
      message: '([removed]), <[removed]>[removed]',
    })
})

t.test('ids, days and other words stay, even if a name or a number is a part of them', async t => {
  const client = {
    externalId: 'RAO-May-9198765432',
    firstname: 'May',
    lastname: 'ali',
    mobileNo: '9198765432',
    activationDate: '06 May 2026',
  }
  const value = {
    changes: { activationDate: '06 May 2026', locale: 'ali', dateFormat: 'dd May yyyy' },
    errors: [
      {
        developerMessage: 'May ali is invalid on 06 May 2026. Call 9198765432, RAO.ali-May or ali.',
        args: [{ value: 'RAO-May-9198765432' }, { value: '06 May 2026' }, { value: 'May' }],
      },
    ],
  }
  t.same(withoutPersonalData(value, client), {
    changes: value.changes,
    errors: [
      {
        developerMessage:
          '[removed] [removed] is invalid on 06 May 2026. Call [removed], RAO.[removed]-[removed] or [removed].',
        args: [{ value: 'RAO-May-9198765432' }, { value: '06 May 2026' }, { value: '[removed]' }],
      },
    ],
  })
})

t.test('a note is removed whole, whatever id, day, name or address it begins with', async t => {
  for (const note of ['L-1 was paid', '06 May 2026 he called', 'asha@example.in asks (why?)']) {
    const data = { external_loan_id: 'L-1', note }
    t.same(withoutPersonalData({ message: `L-1: ${note}` }, data), { message: 'L-1: [removed]' })
  }
})
