// A thread that stands in for a synchronous standby: it confirms what it receives of PostgreSQL's log a fixed time later, and
// applies none of it. It posts a message once it receives. workerData is a Late.
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'

export type Late = { url: string; name: string; lateMs: number }

/** The type of a message from PostgreSQL with a part of the log, and where that begins. */
const LOG = 'w'
const LOG_HEAD_BYTES = 25
const LOG_START_AT = 1
/** The answer has three positions in the log here, before the time and the wish for an answer. */
const POSITIONS_AT = [1, 9, 17]
const ANSWER_BYTES = 34

type Wire = {
  on(event: 'copyData' | 'replicationStart', listener: (message: { chunk: Buffer }) => void): void
  sendCopyFromChunk(chunk: Buffer): void
}

const { url, name, lateMs } = workerData as Late
const settings = { connectionString: url, application_name: name, replication: 'true' }
const client = new pg.Client(settings)
const { connection } = client as unknown as { connection: Wire }
// The bench ends PostgreSQL before this thread.
client.on('error', () => undefined)
await client.connect()
connection.on('copyData', ({ chunk }) => {
  if (String.fromCharCode(chunk[0] as number) !== LOG) return
  const end = chunk.readBigUInt64BE(LOG_START_AT) + BigInt(chunk.length - LOG_HEAD_BYTES)
  setTimeout(() => connection.sendCopyFromChunk(confirmed(end)), lateMs)
})
connection.on('replicationStart', () => parentPort?.postMessage('receiving'))
const { rows } = await client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM')
await client.query(`START_REPLICATION PHYSICAL ${rows[0]?.xlogpos}`).catch(() => undefined)

/** Written, flushed and applied up to there; no time, and no answer wanted. */
function confirmed(end: bigint): Buffer {
  const message = Buffer.alloc(ANSWER_BYTES)
  message.write('r')
  for (const at of POSITIONS_AT) message.writeBigUInt64BE(end, at)
  return message
}
