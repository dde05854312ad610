import t, { type Test } from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import { codes, DATES, driver } from '../support/ledger/ledger-driver.ts'

const PATH = '/clients/external-id/C-1'
const CLIENT = {
  officeId: 1,
  legalFormId: 1,
  firstname: 'Asha',
  lastname: 'Rao',
  externalId: 'C-1',
  active: true,
  activationDate: '2023-01-05',
}

async function setup(t: Test) {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const { call } = driver(sandbox.url)
  const create = (fields: object) => call('POST', '/clients', { ...CLIENT, ...DATES, ...fields })
  return { call, create, update: (fields: object) => call('PUT', PATH, fields) }
}

t.test('a change of legal form is answered with its name, and stored', async t => {
  const { call, create, update } = await setup(t)
  await create({})
  const legalFormId = { id: 2, code: 'legalFormType.entity', value: 'Entity' }
  t.strictSame((await update({ legalFormId: 2 })).body.changes, { legalFormId })
  t.match(await call('GET', PATH), { body: { legalForm: legalFormId } })
  t.strictSame((await update({ legalFormId: 2 })).body.changes, {})
})

t.test('a date of birth is answered as it was sent, and stored', async t => {
  const { call, create, update } = await setup(t)
  await create({ dateOfBirth: '1989-12-31' })
  t.match(await call('GET', PATH), { body: { dateOfBirth: [1989, 12, 31] } })
  const born = { dateOfBirth: '1990-02-03', ...DATES }
  t.strictSame((await update(born)).body.changes, born)
  t.match(await call('GET', PATH), { body: { dateOfBirth: [1990, 2, 3] } })
})

t.test('a date of birth in the future is refused', async t => {
  const { create, update } = await setup(t)
  const refused = [400, 'validation.msg.client.dateOfBirth.is.greater.than.date']
  t.strictSame(codes(await create({ dateOfBirth: '2999-01-01' })), refused)
  await create({})
  t.strictSame(codes(await update({ dateOfBirth: '2999-01-01', ...DATES })), refused)
})

t.test('a locale needs a valid language, and a valid country if it names one', async t => {
  const { create } = await setup(t)
  const code = 'validation.msg.invalid.locale.format'
  for (const locale of ['', 'en_XX', 'en_in', 'xx']) {
    t.strictSame(codes(await create({ locale })), [400, code], locale)
  }
  t.strictSame(codes(await create({ locale: 'xx_XX' })), [400, code, code])
  t.equal((await create({ locale: 'en_IN' })).status, 200)
})

t.test('blanks around a mobile number or an e-mail address are kept', async t => {
  const { call, create, update } = await setup(t)
  await create({ mobileNo: '+91 ' })
  t.match(await call('GET', PATH), { body: { mobileNo: '+91 ' } })
  await update({ mobileNo: ' +92 ', emailAddress: 'a@example.in ' })
  t.match(await call('GET', PATH), { body: { mobileNo: ' +92 ', emailAddress: 'a@example.in ' } })
  await update({ mobileNo: ' ' })
  t.notOk('mobileNo' in (await call('GET', PATH)).body, 'blanks alone are none')
})
