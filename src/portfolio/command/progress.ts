import { setTimeout as pause } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import type { MigrationRecord } from '../record.ts'

const ASK_EVERY_MS = 500

/** Draws a bar until the run has ended. */
export async function showProgress(ask: () => Promise<MigrationRecord>): Promise<MigrationRecord> {
  const bar = new SingleBar({
    format: '  {bar} {value} of {total} rows, {failed} failed, {rate} a second, until {until}',
    noTTYOutput: true,
    // Into a file or a pipe a line now and then says enough.
    notTTYSchedule: 5_000,
    stream: process.stdout,
  })
  let record = await ask()
  bar.start(record.valid_rows, 0, shown(record))
  while (record.status === 'running') {
    await pause(ASK_EVERY_MS)
    record = await ask()
    bar.update(record.done + record.failed + record.stopped, shown(record))
  }
  bar.stop()
  return record
}

function shown({ failed, stopped, rate_per_second, estimated_end_at, status }: MigrationRecord) {
  const until = estimated_end_at?.slice(11, 19) ?? (status === 'running' ? 'not known yet' : 'now')
  return { failed: failed + stopped, rate: rate_per_second ?? 0, until }
}
