import { sql } from 'kysely'
import t from 'tap'
import { isEnough } from '../../../src/accounts/access/access.ts'
import { needsOf } from '../../../src/accounts/access/needs.ts'
import { ROLES } from '../../../src/accounts/account.ts'
import { ACTS } from '../../../src/config/acts.ts'
import { freshDatabase } from '../../support/database/fresh-database.ts'

t.test('calls, and acts that wait in the database, ask for the same roles', async t => {
  const { db } = await freshDatabase(t)
  const pairs = ROLES.flatMap(role => ACTS.map(act => ({ role, act })))
  const { rows } = await sql<object>`
    select role, act, loanops.may_do(role, act) as may
      from json_to_recordset(${JSON.stringify(pairs)}) p (role text, act text)`.execute(db)
  t.same(
    rows,
    pairs.map(({ role, act }) => ({ role, act, may: isEnough(needsOf(act), role) })),
  )
})
