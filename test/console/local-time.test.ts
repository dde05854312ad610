import t from 'tap'
import { localTime } from '../../src/console/text/local-time.ts'

t.test('a typed time that the database cannot read is refused in every zone', async t => {
  for (const [text, zone] of [
    ['9999-12-31T23:59', 'America/New_York'],
    ['0001-01-01T00:00', 'Asia/Kolkata'],
    ['0000-06-01T00:00', 'UTC'],
  ] as const)
    t.throws(() => localTime(text, zone), { code: 'INVALID_PAYLOAD' }, `${text} ${zone}`)
  t.same(localTime('9999-12-31T18:59', 'America/New_York'), new Date('9999-12-31T23:59:00Z'))
})
