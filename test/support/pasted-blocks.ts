import { spawn } from 'node:child_process'
import type { Test } from 'tap'
import { until } from './until.ts'

const END = 'end of this block:'
/** May be sent again until its answer shows what is promised. */
const WRITES = / -(d|X|F) |^(operate|pay|faults|loan) /m

/** A shell in which a page's blocks run one after the other, as if somebody pasted them. */
export function openShell(t: Test, options: { cwd: string; env: NodeJS.ProcessEnv }) {
  const child = spawn('bash', { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  t.teardown(() => child.kill())
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      printed += text
    })

  /** @returns what it printed */
  async function run(commands: string): Promise<string> {
    printed = ''
    child.stdin.write(`${commands}\nprintf '\\n${END}'\n`)
    await until(async () => printed.endsWith(`\n${END}`), commands)
    return printed.slice(0, -END.length).trim()
  }

  /** Asks again while the answer is not yet the promised one. @returns the last answer */
  return async (block: string, promise: string): Promise<string> => {
    const lines = block.trim().split(/(?<!\\)\n/)
    const isRead = !WRITES.test(lines.at(-1) ?? '')
    let output = await run(block)
    const end = Date.now() + (isRead ? 30_000 : 0)
    while (!shows(output, promise) && Date.now() < end) output = await run(lines.at(-1) ?? '')
    return output
  }
}

/** Whether the last lines are as promised: `…` stands for anything, and an answer may have more members and elements. */
export function shows(output: string, promise: string): boolean {
  const wanted = documents(promise)
  if (wanted === undefined)
    return promise
      .trim()
      .split('\n')
      .every(line => output.includes(line))
  const given = documents(output)?.slice(-wanted.length) ?? []
  return wanted.every((one, n) => matches(given[n], one))
}

/** @returns undefined if it is not JSON, nor JSON in each line */
function documents(text: string): unknown[] | undefined {
  for (const parts of [[text], text.trim().split('\n')])
    try {
      return parts.map(part => JSON.parse(part))
    } catch {}
  return undefined
}

function matches(given: unknown, wanted: unknown): boolean {
  if (wanted === '…') return given !== undefined && given !== null
  if (typeof wanted === 'string' && wanted.includes('…'))
    return wanted.split('…').every(part => String(given).includes(part))
  if (typeof wanted !== 'object' || wanted === null) return given === wanted
  if (typeof given !== 'object' || given === null) return false
  if (Array.isArray(wanted))
    return Array.isArray(given) && wanted.every(one => given.some(other => matches(other, one)))
  return Object.entries(wanted).every(([name, value]) =>
    matches((given as Record<string, unknown>)[name], value),
  )
}
