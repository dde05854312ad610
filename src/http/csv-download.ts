import { limitConcurrent } from './connections/connections.ts'

/** An export of a list reads page after page: half of the console's four connections are left to its pages. */
const MAX_CONCURRENT_EXPORTS = 2
/** A caller who reads slowly, or not at all, has only one place: the other one is left to everybody else. */
const EXPORTS_OF_ONE = 1
export const limitExports = limitConcurrent(
  MAX_CONCURRENT_EXPORTS,
  'exports are in progress',
  EXPORTS_OF_ONE,
)

type Reply = { header(name: string, value: string): unknown }

export function csvDownload<R extends Reply>(reply: R, filename: string): R {
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  return reply
}
