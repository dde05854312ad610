import { createHmac, timingSafeEqual } from 'node:crypto'

type SignedHeaders = {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

/** Signs with every secret in rotation, as Standard Webhooks 1.0 specifies. */
export function signedHeaders(keys: Buffer[], id: string, body: string, at: Date) {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map(key => signature(key, id, timestamp, body)).join(' '),
  }
}

export function isSigned(keys: Buffer[], headers: SignedHeaders, body: string): boolean {
  const given = headers['webhook-signature'].split(' ').map(one => Buffer.from(one))
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  return keys.some(key => {
    const expected = Buffer.from(signature(key, id, timestamp, body))
    return given.some(one => one.length === expected.length && timingSafeEqual(one, expected))
  })
}

const signature = (key: Buffer, id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
