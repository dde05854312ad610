import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ownFolder } from '../../src/embedded/own-folder.ts'

const US = process.getuid?.() ?? 0

function place(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-own-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'shelter')
}

t.test('a predictable folder is created for its owner, and reused at the next start', async t => {
  const path = place(t)
  const umask = process.umask(0o077)
  t.teardown(() => process.umask(umask))
  ownFolder(path, US)
  t.equal(lstatSync(path).mode & 0o777, 0o711)
  writeFileSync(join(path, 'kept'), '')
  ownFolder(path, US)
  t.ok(lstatSync(join(path, 'kept')).isFile())
})

t.test('a folder that someone else may have prepared is refused', async t => {
  const prepared: Record<string, (path: string) => void> = {
    'is not a folder': path => symlinkSync(tmpdir(), path),
    'can be written by others': path => {
      mkdirSync(path)
      chmodSync(path, 0o777)
    },
    'belongs to user': path => mkdirSync(path),
  }
  for (const [reason, prepare] of Object.entries(prepared)) {
    const path = place(t)
    prepare(path)
    const owner = reason === 'belongs to user' ? US + 1 : US
    t.throws(() => ownFolder(path, owner), { message: new RegExp(`${reason}.*remove it`) }, reason)
  }
})

t.test('a folder that others could replace is refused', async t => {
  const path = place(t)
  mkdirSync(path)
  const parent = join(path, '..')
  chmodSync(parent, 0o777)
  t.throws(() => ownFolder(path, US), { message: /can be written by others/ })
  chmodSync(parent, 0o1777)
  ownFolder(path, US)
})
