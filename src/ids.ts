import { createHash, randomBytes } from 'node:crypto'

const VERSION_7 = 0x70
const VERSION_5 = 0x50
const VARIANT = 0x80
/** LoanOps's own namespace for names that become UUIDs; any fixed UUID would do. */
const NAMESPACE = Buffer.from('0d9a6c1e5f4b4c0a9b7e3a8d2f61c054', 'hex')

/** A UUID as we write it, whatever its version: a pattern for schemas. */
export const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** The system is asked for randomness once per so many ids: asked for each, it cost as much as parsing the request. */
const POOL_BYTES = 256 * 16
let pool = Buffer.alloc(0)

/** A new UUIDv7: it begins with the time, so that indexes grow at one end. */
export function newId(): string {
  if (pool.length === 0) pool = randomBytes(POOL_BYTES)
  const bytes = pool.subarray(0, 16)
  pool = pool.subarray(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  return uuid(bytes, VERSION_7)
}

/** The UUIDv5 of a name: the same for ever, on every machine. */
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
