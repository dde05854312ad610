import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ASK_EVERY_MS = 100

/**
 * A folder in `parent` for this run alone, because another one may be under way beside it. Those of runs that have ended
 * go.
 */
export async function runFolder(
  parent: string,
  remove: (folder: string) => unknown = folder => rmSync(folder, { recursive: true }),
): Promise<string> {
  mkdirSync(parent, { recursive: true })
  for (const name of readdirSync(parent))
    if (!isRunning(Number(name)) || Number(name) === process.pid) await remove(join(parent, name))
  const folder = join(parent, String(process.pid))
  mkdirSync(folder)
  return folder
}

/** Runs the task while no other process does that names the same lock. */
export async function alone<T>(lock: string, task: () => Promise<T>): Promise<T> {
  while (!isTaken(lock)) await sleep(ASK_EVERY_MS)
  try {
    return await task()
  } finally {
    rmSync(lock, { force: true })
  }
}

function isTaken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Its holder may have just removed it.
    const holder = existsSync(lock) ? readFileSync(lock, 'utf8') : ''
    // Not written yet, or held by a process that was killed.
    if (holder !== '' && !isRunning(Number(holder))) rmSync(lock, { force: true })
    return false
  }
}

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
