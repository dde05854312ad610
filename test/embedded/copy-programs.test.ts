import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { copyPrograms } from '../../src/embedded/copy-programs.ts'

type Places = { native: string; shelter: string; install(version: string): void }

/** A package with programs, in whatever version is installed, and a shelter for copies of them. */
function setup(t: Test): Places {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-copy-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const native = join(folder, 'package/native')
  const shelter = join(folder, 'shelter')
  for (const path of [join(native, 'bin'), join(shelter, 'data')])
    mkdirSync(path, { recursive: true })
  const install = (version: string) => {
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ version }))
    writeFileSync(join(native, 'bin/postgres'), version)
  }
  return { native, shelter, install }
}

const programIn = (copy: string) => readFileSync(join(copy, 'bin/postgres'), 'utf8')

t.test('a start after an update of PostgreSQL runs the new programs', async t => {
  const { native, shelter, install } = setup(t)
  install('18.3.0')
  t.equal(programIn(copyPrograms(native, shelter)), '18.3.0')
  install('18.4.0')
  t.equal(programIn(copyPrograms(native, shelter)), '18.4.0')
})

t.test('an update removes the programs of earlier versions, and nothing else', async t => {
  const { native, shelter, install } = setup(t)
  mkdirSync(join(shelter, 'native'))
  install('18.3.0')
  copyPrograms(native, shelter)
  install('18.4.0')
  copyPrograms(native, shelter)
  t.same(readdirSync(shelter).sort(), ['data', 'native-18.4.0'])
})

t.test('a start without an update copies nothing', async t => {
  const { native, shelter, install } = setup(t)
  install('18.4.0')
  const copy = copyPrograms(native, shelter)
  writeFileSync(join(copy, 'bin/postgres'), 'kept')
  t.equal(programIn(copyPrograms(native, shelter)), 'kept')
})

t.test('a copy that a kill cut short is made again', async t => {
  const { native, shelter, install } = setup(t)
  install('18.4.0')
  mkdirSync(join(shelter, 'native-18.4.0.new/bin/postgres'), { recursive: true })
  t.equal(programIn(copyPrograms(native, shelter)), '18.4.0')
})
