import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { listen } from '../support/http/serve.ts'

/** A receiver that takes every callback at once, and keeps none. */
export async function startReceiver() {
  const { url, close } = await listen((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  })
  return { settings: { CALLBACK_URL: `${url}/`, CALLBACK_SECRET: callbackSecret() }, close }
}
