import { readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import t from 'tap'

type Package = { version?: string; integrity?: string; hasInstallScript?: boolean }

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Package>
}

t.test('the Node that npm runs comes from a package that the lock file pins by hash', async t => {
  const folder = relative('.', dirname(dirname(process.execPath)))
  const { version, integrity, hasInstallScript = false } = packages[folder] ?? {}
  t.equal(version, process.versions.node)
  t.match(integrity, /^sha512-/)
  t.notOk(hasInstallScript, 'no install script downloads anything else')
})

t.test('the lock file pins every package by its hash', async t => {
  const { '': _ourselves, ...others } = packages
  const isPinned = ({ integrity = '' }: Package) => integrity.startsWith('sha512-')
  t.ok(Object.keys(others).length > 0)
  t.same(
    Object.keys(others).filter(folder => !isPinned(others[folder] as Package)),
    [],
  )
})
