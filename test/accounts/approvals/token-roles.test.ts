import t from 'tap'
import { OPERATOR } from '../../support/accounts/admin.ts'
import { withApprovals } from '../../support/accounts/approvals.ts'
import { TOKEN } from '../../support/service.ts'

const DESK = 'a-token-of-the-desk-for-operating-only'
const service = await withApprovals(t, 'account.disable', {
  INTERNAL_TOKEN: `${TOKEN},desk/operate:${DESK}`,
})

t.test('a token that may not change accounts decides about no proposal to do so', async t => {
  const { call, login } = service
  const other = { username: 'uma.second', password: 'one more good pass phrase' }
  await service.admin.post('account/register', { ...other, role: 'admin' })
  const proposed = await service.admin.post(`account/${OPERATOR.username}/disable`)
  t.equal(proposed.status, 202)
  const second = await login(other)
  const path = `/api/approvals/${proposed.body.approval_id}`
  const withDesk = { ...second.headers, 'x-internal-token': DESK }
  for (const decision of ['approve', 'reject', 'withdraw'])
    t.match(await call('POST', `${path}/${decision}`, {}, withDesk), {
      status: 403,
      body: { code: 'FORBIDDEN' },
    })
  t.equal((await second.approve(proposed.body.approval_id)).status, 204)
})
