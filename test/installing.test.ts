import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { neededBy } from '../src/ledger/check/set-up/permissions.ts'
import { operationCatalogue } from '../src/operations/catalogue.ts'

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
/** The permissions that LoanOps can do without, but sees more with. */
const OPTIONAL = ['READ_OFFICE', 'READ_CONFIGURATION', 'READ_BUSINESS_DATE']
const STOP_TAKES_SECONDS = 25

t.test('ledger.md gives the user the permissions that check-ledger looks for', async t => {
  const page = read('docs/ledger.md')
  const [, given = ''] = /"permissions":\{(.*?)\}/.exec(page) ?? []
  const names = [...given.matchAll(/"(\w+)":true/g)].map(([, name]) => name)
  const operations = [...operationCatalogue(new Map()).values()]
  for (const { name, permissions } of operations)
    t.ok(permissions?.length, `${name} says which permissions it needs`)
  t.same(names.toSorted(), [...neededBy(operations), ...OPTIONAL].sort())
  for (const name of names) t.match(page, new RegExp(`^\\|.*\`${name}\``, 'm'), `why ${name}`)
})

t.test('the unit of installing.md starts Node as npm start does, and lets a stop end', async t => {
  const page = read('docs/installing.md')
  const { scripts } = JSON.parse(read('package.json'))
  const flags = (text: string) => text.match(/--max-[a-z-]+=\d+/g)
  const [unit = ''] = /^\[Unit\].*?^```/ms.exec(page) ?? []
  t.same(flags(unit), flags(scripts.start))
  t.same(flags(read('Dockerfile').replace(/^#.*$/gm, '')), flags(scripts.start))
  t.ok(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1]) > STOP_TAKES_SECONDS)
})

const skip = process.platform !== 'linux' && 'the ln of this machine has no -T'

t.test('an upgrade by installing.md makes the unit start the new program', { skip }, t => {
  const page = read('docs/installing.md')
  const folder = t.testdir({ 'loanops-1': {}, 'loanops-2': {} })
  const [, unit = ''] = /^WorkingDirectory=\/opt\/(.*)$/m.exec(page) ?? []
  const links = [...page.matchAll(/ln -sfnT loanops-\d \/opt\/loanops/g)].map(([line]) => line)
  t.equal(links.length, 2, 'at the first installation, and at an upgrade')
  for (const [index, line] of links.entries()) {
    execFileSync('sh', ['-c', line.replace('/opt', folder)])
    t.equal(realpathSync(join(folder, unit)), join(realpathSync(folder), `loanops-${index + 1}`))
  }
  t.end()
})
