import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

const HEAD = "import t from 'tap'\n"
/** More turns of the event loop than tap waits for another test. */
const LOADS_LATE = 'for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate)'
const KEEPS_ALIVE = 'setInterval(() => undefined, 60_000)'

t.test('a file that loads only after the tests before it have ended runs its tests', async t => {
  const { said, status } = await run(t, [
    `t.teardown(() => undefined); t.test('early', async t => t.pass())`,
    `${LOADS_LATE}; t.test('late', async t => t.pass())`,
  ])
  t.match(said, /ok 1 - early.*ok 2 - late/s)
  t.equal(status, 0)
})

t.test('files in one process do not share the number of tests that run together', async t => {
  const test = (name: string) =>
    `t.test('${name}', async t => { console.log('${name} begins'); await new Promise(setImmediate); console.log('${name} ends') })`
  const { said } = await run(t, ['t.jobs = 2', [test('one'), test('two')].join('\n')])
  t.match(said, /one begins.*one ends.*two begins.*two ends/s)
})

t.test('the service that a file began is closed before the next file loads', async t => {
  const { said } = await run(t, [
    `t.teardown(() => t.comment('closed')); t.test('first', async t => t.pass())`,
    `t.comment('loaded')`,
  ])
  t.match(said, /ok 1 - first.*# closed\n.*# loaded\n/s)
})

t.test('a process that something keeps alive fails and names its files', async t => {
  const { said, status } = await run(t, [`t.test('fine', async t => t.pass())`, KEEPS_ALIVE], 1)
  t.match(said, /not exited within 1 ms after \S+0\.mjs \S+1\.mjs: .*Timeout/)
  t.equal(status, 1)
})

/** Runs files with this text in one process, as the suite does. */
async function run(t: Test, bodies: string[], exitsWithinMs?: number) {
  const files = bodies.map((body, n) => [`${n}.mjs`, HEAD + body] as const)
  const folder = t.testdir(Object.fromEntries(files))
  const entry = [
    `import { expectExit, runFile } from '${import.meta.resolve('./run-file.ts')}'`,
    ...files.map(([name]) => `await runFile('${folder}/${name}')`),
    `expectExit(${exitsWithinMs ?? ''})`,
  ].join('\n')
  const child = spawn(process.execPath, ['--input-type=module', '--eval', entry], {
    env: { ...process.env, TAP: '1' },
  })
  const [said, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { said: said + errors, status }
}
