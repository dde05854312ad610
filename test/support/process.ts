import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { MAIN } from './main.ts'

export type Service = {
  child: ChildProcess
  /** The lines that it wrote to standard error, including the crash points at which it died or froze. */
  said: string[]
  /** Resolves when it has ended. */
  ended: Promise<void>
  kill(signal: NodeJS.Signals): Promise<void>
}

/** What a process of a test needs besides its settings. */
export const processEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
}

/** Most processes of the suite only start and die: their garbage is collected rarely, and on one thread. */
const SHORT_LIVED = process.env.TEST_MAIN
  ? ['--max-semi-space-size=64', '--single-threaded-gc']
  : []

/** Starts the service as a process: `node src/main.ts --role …`. */
export function startProcess(role: 'api' | 'worker' | 'all', env: NodeJS.ProcessEnv): Service {
  // Whoever gives options of its own checks what a process needs.
  const flags = env.NODE_OPTIONS ? [] : SHORT_LIVED
  const child = spawn(process.execPath, [...flags, MAIN, '--role', role], {
    env: { ...env, ...processEnv },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', line =>
    said.push(line),
  )
  const ended = once(child, 'close').then(() => undefined)
  return {
    child,
    said,
    ended,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      await ended
    },
  }
}

/** The same, killed when the test ends if it is still running. */
export function startProcessFor(
  t: Test,
  role: 'api' | 'worker' | 'all',
  env: NodeJS.ProcessEnv,
): Service {
  const service = startProcess(role, env)
  t.teardown(() => service.kill('SIGKILL'))
  return service
}

/** What a command prints, says on standard error, and ends with. */
export async function outputOf(child: ChildProcess) {
  const [printed, said, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'close'),
  ])
  return { printed, said, code }
}

/** Makes a process take its clock for that much ahead. */
export const shiftedBy = (ms: number) => ({
  CLOCK_AHEAD_MS: String(ms),
  NODE_OPTIONS: '--import=./test/support/shifted-clock.ts',
})

/** The crash points of `said`, in order. */
export const crashPointsIn = (said: string[]) =>
  said.flatMap(line => /^crash point (\S+)/.exec(line)?.[1] ?? [])
