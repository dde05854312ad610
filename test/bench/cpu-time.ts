import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts CPU time in hundredths of a second. */
const TICK_MS = 10

/** CPU time in milliseconds used so far by a process and its children, including those that have ended. */
export function cpuTimeMs(pid: number): number {
  const children = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(name => statOf(name)?.[1] === String(pid))
  const own = statOf(String(pid))
  const ticks = (own ?? []).slice(11, 15).reduce((sum, value) => sum + Number(value), 0)
  return ticks * TICK_MS + children.reduce((sum, child) => sum + cpuTimeMs(Number(child)), 0)
}

/** The fields of /proc/<pid>/stat from the third on, because the name before it may contain blanks. */
function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
