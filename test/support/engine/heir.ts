import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/**
 * A worker that has started and is suspended. What it does after `wake` is not delayed by its start, which takes many
 * seconds on a busy machine.
 */
export async function suspendedWorker(t: Test, env: NodeJS.ProcessEnv): Promise<{ wake(): void }> {
  const child = spawn(process.execPath, ['test/support/engine/heir-process.ts'], {
    env: { ...env, ROLE: 'worker', PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return { wake: () => child.kill('SIGCONT') }
}
