import t from 'tap'
import { migrateUnderKills } from '../support/kill-run.ts'

t.test(
  'a run that is killed again and again ends in the same books as one that is not',
  async t => {
    const seed = Number(process.env.SEED ?? 11)
    t.comment(`seed ${seed}`)
    const { killed, found, expected, clients } = await migrateUnderKills(t, {
      seed,
      kills: 3,
      clients: 5,
      loans: 30,
      repayments: 250,
    })
    t.ok(killed >= 2, `killed ${killed} times`)
    t.same(found, expected)
    t.equal(clients, 5)
  },
)
