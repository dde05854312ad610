import type { Config } from '../config.ts'

/** The headers that are read of a webhook. Here and not in its schema: whatever a gateway sends is taken. */
export function withWebhookHeaders<T extends { paths?: object }>(document: T, config: Config): T {
  const headers: Record<string, [name: string, description: string][]> = {
    '/api/webhooks/gateway_a': [
      [config.GATEWAY_A_SIGNATURE_HEADER, 'HMAC-SHA256 of the raw body, in hex'],
      [config.GATEWAY_A_EVENT_ID_HEADER, 'the event’s id'],
    ],
    '/api/webhooks/gateway_b': [
      ['x-webhook-signature', 'HMAC-SHA256 of the time stamp and the raw body, in base64'],
      ['x-webhook-timestamp', 'the time stamp of the signature'],
      ['x-idempotency-key', 'the event’s id'],
    ],
  }
  for (const [path, named] of Object.entries(headers)) {
    const { post } =
      (document.paths as Record<string, { post?: { parameters?: object[] } }>)[path] ?? {}
    post?.parameters?.push(
      ...named.map(([name, description]) => ({
        in: 'header',
        name,
        required: false,
        description,
        schema: { type: 'string' },
      })),
    )
  }
  return document
}
