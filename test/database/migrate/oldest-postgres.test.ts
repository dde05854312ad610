import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'

const root = resolve(import.meta.dirname, '../../..')
/** Functions that PostgreSQL 16, 17 or 18 brought, and that SQL of ours may want. */
const NEWER =
  /\b(any_value|array_(reverse|sample|shuffle|sort)|casefold|date_(add|subtract)|json_(exists|query|scalar|serialize|table|value)|pg_input_(error_info|is_valid)|random_normal|to_(bin|oct)|unicode_assigned|uuid_extract_(timestamp|version)|uuidv[47]|xmltext)\s*\(/

/** PostgreSQL 15 reads this escape, the vertical tab, as the letter v. */
const NEWER_ESCAPE = /E'[^']*\\v/

t.test('the SQL has no function and no escape that PostgreSQL 15 lacks', async t => {
  t.match(readFileSync(resolve(root, 'README.md'), 'utf8'), 'PostgreSQL 15 to 18')
  for (const folder of ['migrations', 'src']) {
    const names = readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
    for (const name of names.filter(name => /\.(sql|ts)$/.test(name))) {
      const text = readFileSync(resolve(root, folder, name), 'utf8')
      t.notMatch(text, NEWER, `${folder}/${name}`)
      t.notMatch(text, NEWER_ESCAPE, `${folder}/${name}`)
    }
  }
})
