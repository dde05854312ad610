import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedSecrets } from '../../src/embedded/secrets.ts'

function setup(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'secrets.json')
}

t.test('the next start has the secrets that the first one generated', async t => {
  const file = setup(t)
  t.same(embeddedSecrets(file), embeddedSecrets(file))
})

t.test('a start whose secrets are damaged says which file it is and what to do', async t => {
  const file = setup(t)
  embeddedSecrets(file)
  for (const text of ['', '{"INTERNAL_TOKEN": "cut o']) {
    writeFileSync(file, text)
    t.throws(() => embeddedSecrets(file), {
      message: `${file} is damaged: restore it, or remove its folder to start over`,
    })
  }
})
