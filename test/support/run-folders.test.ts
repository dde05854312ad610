import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { alone, runFolder } from './run-folders.ts'

/** No process has this id: it is above what a system allows. */
const ENDED = 2 ** 30

t.test('a run beside this one in the same clone takes nothing away from it', async t => {
  const kept = join(t.testdir({ kept: '' }), 'kept')
  const { status, stdout } = spawnSync(
    process.execPath,
    [resolve('test/support/run.ts'), 'test/console/subject-links.test.ts'],
    { encoding: 'utf8', env: { PATH: process.env.PATH } },
  )
  t.equal(status, 0, stdout)
  t.ok(existsSync(kept), 'its fixtures')
  t.ok(existsSync(process.env.TEST_RUN_FOLDER ?? ''), 'its list of files')
  const database = new pg.Client(process.env.TEST_DATABASE_URL)
  await database.connect()
  await database.end()
})

t.test('a run removes what a killed one left', async t => {
  const parent = t.testdir({ [ENDED]: { file: '' }, '000.test.mjs': '' })
  t.equal(await runFolder(parent), join(parent, String(process.pid)))
  t.same(readdirSync(parent), [String(process.pid)])
})

t.test('work for one process at a time goes on once its holder has ended', async t => {
  const lock = join(t.testdir(), 'lock')
  writeFileSync(lock, String(ENDED))
  const order: string[] = []
  await Promise.all(
    ['first', 'second'].map(name =>
      alone(lock, async () => {
        order.push(`${name} begins`)
        await new Promise(setImmediate)
        order.push(`${name} ends`)
      }),
    ),
  )
  const [one, other] = order[0] === 'first begins' ? ['first', 'second'] : ['second', 'first']
  t.same(order, [`${one} begins`, `${one} ends`, `${other} begins`, `${other} ends`])
  t.notOk(existsSync(lock))
})
