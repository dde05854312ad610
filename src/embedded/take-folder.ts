import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { PRIVATE_FILE } from './private-folder.ts'

/** A second process would stop the first one's PostgreSQL, taking it for a leftover. */
export function takeFolder(pidFile: string): { close(): Promise<void> } {
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0
  if (pid > 0 && pid !== process.pid && isOurs(pid)) {
    throw new Error(`LoanOps is already running in this folder, as process ${pid}`)
  }
  writeFileSync(pidFile, String(process.pid), { mode: PRIVATE_FILE })
  return { close: async () => rmSync(pidFile, { force: true }) }
}

/** Whether the process is a start or a reset: after a reboot, another process may have this id. */
function isOurs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync(commandLine) || /--embedded|\0reset\0/.test(readFileSync(commandLine, 'utf8'))
}
