import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Test } from 'tap'

/** A worker in a process of its own, which a test may kill. */
export function startWorkerProcess(
  t: Test,
  env: NodeJS.ProcessEnv,
  role: 'worker' | 'api' = 'worker',
): ChildProcess {
  const worker = spawn(process.execPath, [resolve('src/main.ts'), '--role', role], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })
  t.teardown(() => kill(worker))
  return worker
}

/** As when the machine loses power: nothing is handed back. */
export async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exit = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exit
}
