import { createHash, randomBytes } from 'node:crypto'

const VERSION_7 = 0x70
const VERSION_5 = 0x50
const VARIANT = 0x80
/** LoanOps's namespace for UUIDv5; any fixed UUID would do. */
const NAMESPACE = Buffer.from('0d9a6c1e5f4b4c0a9b7e3a8d2f61c054', 'hex')

export const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
/** Sorts before every id that is given out. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const AS_UUID = new RegExp(UUID)

export const isUuid = (text: string): boolean => AS_UUID.test(text)

/** Random bytes are fetched for 256 ids at a time: fetching them for each id costs as much as parsing the request. */
const POOL_BYTES = 256 * 16
let pool = Buffer.alloc(0)
let lastMs = 0
let count = 0

/** A UUIDv7: it begins with the time, so that indexes grow at one end; of one process, the older id sorts first. */
export function newId(): string {
  if (pool.length === 0) pool = randomBytes(POOL_BYTES)
  const bytes = pool.subarray(0, 16)
  pool = pool.subarray(16)
  const now = Date.now()
  count = now === lastMs ? count + 1 : 0
  lastMs = now
  bytes.writeUIntBE(now, 0, 6)
  // The 12 bits beside the version count the ids of one millisecond (RFC 9562 6.2), which has time for some 2,000.
  bytes.writeUInt16BE(count, 6)
  return uuid(bytes, VERSION_7)
}

/** A UUIDv5: the same forever, on every machine. */
export function idOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  return uuid(bytes, VERSION_5)
}

function uuid(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | version
  bytes[8] = ((bytes[8] as number) & 0x3f) | VARIANT
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
