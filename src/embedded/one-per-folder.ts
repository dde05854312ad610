import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { PRIVATE_FILE } from './private-folder.ts'

/**
 * Lets only one process use a folder: a second one would stop the first one's PostgreSQL as a left-over.
 * @returns how to free it again. @throws when it is in use
 */
export function takeFolder(pidFile: string): { close(): Promise<void> } {
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0
  if (pid > 0 && pid !== process.pid && isOurs(pid)) {
    throw new Error(`LoanOps runs in this folder already, as process ${pid}`)
  }
  writeFileSync(pidFile, String(process.pid), { mode: PRIVATE_FILE })
  return { close: async () => rmSync(pidFile, { force: true }) }
}

/** After a restart of the machine the number may be anybody's. */
function isOurs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('--embedded')
}
