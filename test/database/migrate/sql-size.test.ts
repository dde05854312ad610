import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'

const MAX_FILE_LINES = 300
const MAX_FUNCTION_LINES = 60

const folder = resolve(import.meta.dirname, '../../../migrations/views')
const files = readdirSync(folder).map(name => ({
  name,
  text: readFileSync(resolve(folder, name), 'utf8'),
}))

const linesOf = (text: string) => text.trimEnd().split('\n').length

t.test('no SQL file or function is too long to read in one go', async t => {
  for (const { name, text } of files) {
    t.ok(linesOf(text) <= MAX_FILE_LINES, name)
    for (const [definition, called] of text.matchAll(
      /^create or replace function (\S+?)\([\s\S]*?^\$\$;/gm,
    ))
      t.ok(linesOf(definition) <= MAX_FUNCTION_LINES, String(called))
  }
})
