import { writeSync } from 'node:fs'

/** Every place where a process can die between two effects, in the order in which an operation passes them. */
export const CRASH_POINTS = [
  'intake.inserted',
  'intake.committed',
  'claim.committed',
  'start.committed',
  'look.answered',
  'remember.committed',
  'write.unsent',
  'write.answered',
  'finish.committed',
  'wake.client-done',
  'stop.handing-back',
] as const
/** Where a process can die while it handles a payment, from its webhook to the end of its repayment. */
export const PAYMENT_CRASH_POINTS = [
  'webhook.committed',
  'events.saved',
  'batch.claimed',
  'batch.registered',
  'batch.transformed',
  'batch.posting',
  'posting.recorded',
  'batch.unended',
] as const
/** Where a process can die during a run that reads payments back. */
export const READBACK_CRASH_POINTS = [
  'readback.claimed',
  'readback.read',
  'readback.recording',
  'readback.recorded',
  'readback.unended',
] as const
/** Where a process can die while it delivers a callback. */
export const CALLBACK_CRASH_POINTS = [
  'callback.numbered',
  'callback.claimed',
  'callback.answered',
  'callback.recorded',
] as const
/** Where a process can die during a fetch from a gateway. */
export const BACKFILL_CRASH_POINTS = [
  'backfill.claimed',
  'backfill.kept',
  'backfill.part-done',
  'backfill.unended',
] as const
/** Where a process can die while it asks a gateway to confirm an event. */
export const CONFIRM_CRASH_POINTS = ['confirm.answered', 'confirm.kept'] as const
/** Where a process can die during a bulk decision. */
export const BULK_CRASH_POINTS = ['bulk.decided', 'bulk.recorded'] as const
const ALL_CRASH_POINTS = [
  ...CRASH_POINTS,
  ...PAYMENT_CRASH_POINTS,
  ...READBACK_CRASH_POINTS,
  ...CALLBACK_CRASH_POINTS,
  ...BACKFILL_CRASH_POINTS,
  ...CONFIRM_CRASH_POINTS,
  ...BULK_CRASH_POINTS,
]
export type CrashPoint = (typeof ALL_CRASH_POINTS)[number]

let pass: ((point: CrashPoint) => void) | undefined

/** Kills this process if it was armed to die here; otherwise does nothing. */
export function crashPoint(point: CrashPoint): void {
  pass?.(point)
}

/**
 * Sets where this process dies, for tests: `claim.committed:3` on the third pass; several, separated by commas.
 * With `:SIGSTOP` appended the process freezes instead, as on an overloaded machine.
 */
export function armCrashPoints(text: string | undefined): void {
  if (!text) return
  const left = new Map(text.split(',').map(parsed))
  pass = point => {
    const order = left.get(point)
    if (order === undefined || --order.passings > 0) return
    left.delete(point)
    writeSync(process.stderr.fd, `crash point ${point}\n`)
    process.kill(process.pid, order.signal)
  }
}

function parsed(order: string): [string, { passings: number; signal: 'SIGKILL' | 'SIGSTOP' }] {
  const [point = '', passings = '1', signal = 'SIGKILL'] = order.split(':')
  const points: string[] = ALL_CRASH_POINTS
  if (!points.includes(point))
    throw new Error(`There is no crash point ${point}. Crash points: ${points.join(', ')}`)
  return [
    point,
    { passings: Number(passings), signal: signal === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL' },
  ]
}
