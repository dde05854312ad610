import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'

const START_WITHIN_MS = 60_000

/** A whole product in a new folder, as `npm start` starts it. @throws Error if it does not start; then nothing of it is left */
export async function startSeparateService(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `loanops-${name}-`))
  // If we are root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755)
  const child = spawn(process.execPath, [resolve('src/main.ts'), '--embedded'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0', SANDBOX_PORT: '0', DATABASE_URL: '', LEDGER_URL: '' },
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { folder, printed: await welcomeOf(child), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function welcomeOf(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  return new Promise((started, failed) => {
    const late = () => failed(new Error('the service did not start in time'))
    setTimeout(late, START_WITHIN_MS).unref()
    child.once('exit', () => failed(new Error('the service did not start')))
    let printed = ''
    child.stdout.on('data', chunk => {
      printed += chunk
      if (printed.includes('Ctrl-C')) started(printed)
    })
  })
}
