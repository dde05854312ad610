import { spawnSync } from 'node:child_process'
import t from 'tap'
import { viewFiles } from '../../../src/database/migrate/sql-files.ts'

/** The first commit with today's files of tables: a database may have the functions of any commit since. */
const FIRST = '7100496b7d81eef45ca25b925d0316e3d7ac130d'
const VIEWS = 'migrations/views'
const HEADER =
  /create or replace function ([\w.]+)\((.*?)\)\s+returns\s+(.*?)\s+(?:language|as)\b/gs

const run = (...args: string[]) => {
  const cwd = new URL('../../..', import.meta.url)
  return spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
}
const isThere = run('cat-file', '-e', `${FIRST}^{commit}`).status === 0
const skip = !isThere && 'this copy of the program lacks its older commits'

t.test(
  'a function that has other parameters or another result than once has another name',
  { skip },
  t => {
    const own = headers(viewFiles().map(({ text }) => text))
    t.ok(own.size > 100, `${own.size} functions are found`)
    const commits = run('log', '--format=%H', `${FIRST}..`, '--', VIEWS).stdout.split('\n')
    for (const commit of [FIRST, ...commits.filter(Boolean)]) {
      const once = headers([run('grep', '-h', '', commit, '--', VIEWS).stdout])
      for (const [signature, header] of once)
        if (own.has(signature) && own.get(signature) !== header)
          t.equal(own.get(signature), header, `${signature}: migrate fails after ${commit}`)
    }
    t.end()
  },
)

/** What PostgreSQL lets no `create or replace` change, by what tells it which function is meant. */
function headers(texts: string[]): Map<string, string> {
  const found = texts.flatMap(text => [...text.matchAll(HEADER)])
  return new Map(
    found.map(([, name, parameters = '', result]) => {
      const all = parameters.split(',').map(text => text.trim().replace(/ default .*$/, ''))
      const types = all.map(text => text.slice(text.indexOf(' ') + 1))
      return [`${name}(${types})`, `(${all}) returns ${result}`]
    }),
  )
}
