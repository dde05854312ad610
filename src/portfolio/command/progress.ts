import { setTimeout as sleep } from 'node:timers/promises'
import { SingleBar } from 'cli-progress'
import type { MigrationRecord } from '../migration-record.ts'

const ASK_EVERY_MS = 500

export async function showProgress(ask: () => Promise<MigrationRecord>): Promise<MigrationRecord> {
  const bar = new SingleBar({
    format: '  {bar} {value} of {total} rows, {failed} failed, {rate} a second, until {until}',
    noTTYOutput: true,
    // In a file or a pipe, a line now and then is enough.
    notTTYSchedule: 5_000,
    stream: process.stdout,
  })
  let record = await ask()
  bar.start(record.valid_rows, endedOf(record), shown(record))
  while (record.status === 'running') {
    await sleep(ASK_EVERY_MS)
    record = await ask()
    bar.update(endedOf(record), shown(record))
  }
  bar.stop()
  return record
}

const endedOf = ({ is_dry_run, looked_at, done, failed, stopped }: MigrationRecord): number =>
  is_dry_run ? looked_at : done + failed + stopped

function shown({ failed, stopped, rate_per_second, estimated_end_at, status }: MigrationRecord) {
  const until = estimated_end_at?.slice(11, 19) ?? (status === 'running' ? 'not known yet' : 'now')
  return { failed: failed + stopped, rate: rate_per_second ?? 0, until }
}
