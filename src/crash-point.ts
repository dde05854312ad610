import { writeSync } from 'node:fs'

let pass: ((point: string) => void) | undefined

export function crashPoint(point: string): void {
  pass?.(point)
}

/** `claim.committed:3` kills on the third pass; with `:SIGSTOP` the process freezes instead. */
export function armCrashPoints(text: string, points: readonly string[]): void {
  const left = new Map(text.split(',').map(order => parsed(order, points)))
  pass = point => {
    const order = left.get(point)
    if (order === undefined || --order.passings > 0) return
    left.delete(point)
    writeSync(process.stderr.fd, `crash point ${point}\n`)
    process.kill(process.pid, order.signal)
  }
}

type Order = { passings: number; signal: 'SIGKILL' | 'SIGSTOP' }

function parsed(order: string, points: readonly string[]): [string, Order] {
  const [point = '', passings = '1', signal = 'SIGKILL'] = order.split(':')
  if (!points.includes(point))
    throw new Error(
      `LOANOPS_CRASH_AT: there is no crash point ${point}; there are ${points.join(', ')}`,
    )
  return [
    point,
    { passings: Number(passings), signal: signal === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL' },
  ]
}
