import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'
import { serve } from '../http/serve.ts'
import { until } from '../until.ts'
import { againstContract } from './against-contract.ts'
import { callbackSecret } from './callback-secret.ts'

type ReceivedCallback = {
  id: string
  /** The time of this attempt, in seconds. */
  timestamp: number
  headers: IncomingMessage['headers']
  body: { type: string; timestamp: string; sequence: number; data: any }
  text: string
}
type Respond = (response: ServerResponse, received: ReceivedCallback) => void

/** A receiver that refuses whatever the reference library finds badly signed, and fails the test if one is not as the contract says. */
export async function callbackReceiver(t: Test) {
  const secret = callbackSecret()
  const received: ReceivedCallback[] = []
  const refused: string[] = []
  let respond: Respond = response => response.end()
  const base = await serve(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    try {
      new Webhook(secret).verify(text, request.headers as Record<string, string>)
    } catch (error) {
      refused.push(String(error))
      response.writeHead(400).end()
      return
    }
    const one = {
      id: String(request.headers['webhook-id']),
      timestamp: Number(request.headers['webhook-timestamp']),
      headers: request.headers,
      body: JSON.parse(text),
      text,
    }
    for (const difference of againstContract(one.body)) t.fail(difference)
    received.push(one)
    respond(response, one)
  })
  const url = `${base}/callbacks`
  return {
    url,
    secret,
    settings: { CALLBACK_URL: url, CALLBACK_SECRET: secret },
    received,
    refused,
    respond: (next: Respond) => {
      respond = next
    },
    /** Waits until so many attempts have come. */
    attempts: (count: number) =>
      until(
        async () => (received.length >= count ? received : undefined),
        `${count} attempts, ${received.length} so far`,
      ),
  }
}
