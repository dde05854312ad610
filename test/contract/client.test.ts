import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { callbackSecret } from '../support/callback-secret.ts'
import { startTestService, TOKEN } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Without tap's own hooks, which keep TypeScript from loading. */
const env = { PATH: process.env.PATH }
const run = (file: string, args: string[]) => promisify(execFile)(file, args, { env })
const MAX_LINES = 40
const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(readFileSync('docs/integrating.md', 'utf8')) ?? []
const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: 'esnext',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    types: ['node'],
  },
}

t.test('the client in the docs compiles against the contract and runs', async t => {
  const port = await freePort(0)
  const secret = callbackSecret()
  const { url } = await startTestService(t, {
    DOCS_ENABLED: 'true',
    CALLBACK_URL: `http://127.0.0.1:${port}/`,
    CALLBACK_SECRET: secret,
  })
  const folder = t.testdir({ 'client.ts': code, 'tsconfig.json': JSON.stringify(STRICT) })
  t.ok(code.trim().split('\n').length <= MAX_LINES)

  await run(process.execPath, [
    `--import=${resolve('test/support/typescript-api.ts')}`,
    resolve('node_modules/openapi-typescript/bin/cli.js'),
    `${url}/openapi.json`,
    '-o',
    join(folder, 'loanops.ts'),
  ])
  const compiled = await run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch(error => error)
  t.equal(compiled.stdout, '')
  writeFileSync(
    join(folder, 'wrong.ts'),
    code.replace("status: 'CLIENT_CREATE'", "status: 'CREATE'"),
  )
  const wrong = await run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch(error => error)
  t.match(wrong.stdout, /wrong\.ts/, 'an operation that does not exist is a type error')

  const client = spawn(process.execPath, [join(folder, 'client.ts')], {
    env: {
      ...env,
      LOANOPS_URL: url,
      LOANOPS_TOKEN: TOKEN,
      CALLBACK_SECRET: secret,
      PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => client.kill())
  let printed = ''
  client.stdout.on('data', text => {
    printed += text
  })
  await until(async () => /^success$/m.test(printed) && /^called back C-4001$/m.test(printed))
  t.pass('it waited for the end, and was called back')
})
