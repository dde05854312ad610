import type { ServerResponse } from 'node:http'
import { limitConcurrent } from './connections/connections.ts'

/** An export of a list reads page after page: half of the console's four connections are left to its pages. */
const MAX_CONCURRENT_EXPORTS = 2
export const limitExports = limitConcurrent(MAX_CONCURRENT_EXPORTS, 'exports are in progress')

/** A download that was paused for this long only takes the place of another. */
const UNREAD_MS = 60_000

type Reply = { raw: ServerResponse; header(name: string, value: string): unknown }

export function csvDownload<R extends Reply>(reply: R, filename: string): R {
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  endUnread(reply.raw, UNREAD_MS)
  return reply
}

/** Ends an answer of which nothing is read for this long, but none that waits for more of ours. */
export function endUnread(response: ServerResponse, afterMs: number): void {
  response.setTimeout(afterMs, () => {
    if (response.writableLength > 0) response.destroy()
  })
}
