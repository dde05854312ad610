import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { freePort } from '../../src/embedded/free-port.ts'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { startTestService, TOKEN } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The environment leaves out tap's own hooks, which keep TypeScript from loading. */
const env = { PATH: process.env.PATH }
const run = (file: string, args: string[]) => promisify(execFile)(file, args, { env })
const MAX_LINES = 40
const page = readFileSync('docs/integrating.md', 'utf8')
const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(page) ?? []
/** The page's lines for the shell: one that installs, and one that runs the client. */
const [, setUp = '', installed = ''] = /^(npm init .*?) && npm install (.*)$/m.exec(page) ?? []
const [, settings = '', started = ''] = /^(LOANOPS_URL=.*) node (\S+)$/m.exec(page) ?? []
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
  const folder = await freshFolder(t)
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

  const here: Record<string, string> = {
    LOANOPS_URL: url,
    LOANOPS_TOKEN: TOKEN,
    CALLBACK_SECRET: secret,
    PORT: String(port),
  }
  const names = settings.split(' ').map(setting => setting.split('=', 1)[0] ?? '')
  const client = spawn(process.execPath, [started], {
    cwd: folder,
    env: { ...env, ...Object.fromEntries(names.map(name => [name, here[name]])) },
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

t.test('the client in the docs pauses before it asks again for what is processing', async t => {
  const askedAt: number[] = []
  // So does LoanOps answer once too many callers wait: at once.
  const loanops = createServer((request, response) => {
    if (request.url?.includes('/track/')) askedAt.push(performance.now())
    const status = askedAt.length < 2 ? 'processing' : 'success'
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ tracking_id: 'CLIENT_CREATE|1', status }))
  }).listen(0, '127.0.0.1')
  t.teardown(() => loanops.close())
  await once(loanops, 'listening')
  const { port } = loanops.address() as AddressInfo
  const client = spawn(process.execPath, [started], {
    cwd: await freshFolder(t),
    env: { ...env, LOANOPS_URL: `http://127.0.0.1:${port}`, PORT: '0' },
  })
  t.teardown(() => client.kill())
  await until(async () => askedAt.length === 2)
  const [first = 0, second = 0] = askedAt
  t.ok(second - first > 1_000, `${second - first} ms`)
})

/** Outside this project, with what the page installs, linked from here so that no test needs the network. */
async function freshFolder(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'loanops-client-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await promisify(execFile)('bash', ['-c', setUp], { cwd: folder, env })
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const one of installed.split(' ')) {
    const [name = '', version] = one.split('@')
    // Version 7, which this project has, has no API: `typescript-api.ts` stands in for the page's.
    if (name === 'typescript') t.match(version, /^5\./)
    else {
      t.equal(version, devDependencies[name], name)
      mkdirSync(join(folder, 'node_modules'), { recursive: true })
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
    }
  }
  // Only for the compiler, which checks the client more strictly than Node runs it.
  symlinkSync(resolve('node_modules/@types'), join(folder, 'node_modules/@types'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT))
  writeFileSync(join(folder, 'client.ts'), code)
  return folder
}
