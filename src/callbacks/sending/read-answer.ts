import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { storableText } from '../../text/storable.ts'

/** Enough bytes of a response to show the cause of a failure. */
const MAX_ANSWER_BYTES = 4_096
/** A receiver that took the callback may leave its answer open, and must not hold the next callback up. */
const READ_OF_SUCCESS_MS = 250

type Body = Dispatcher.ResponseData['body']

/**
 * Reads the beginning of a response's body. The status has already decided the outcome: of a body that breaks off or never
 * ends, the part that arrived is kept. Some receivers answer before they have done their work, and drop it if we leave: up to
 * `mostLeftOpen` answers stay open for `timeoutMs`.
 */
export function answerReader(timeoutMs: number, mostLeftOpen: number) {
  let open = 0

  return async (body: Body, isDelivered: boolean): Promise<string> => {
    const chunks: Buffer[] = []
    let bytes = 0
    const ended = new Promise<void>(resolve => body.once('close', resolve))
    body.on('error', () => {})
    body.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_ANSWER_BYTES) body.destroy()
    })
    await (isDelivered
      ? Promise.race([ended, sleep(READ_OF_SUCCESS_MS, undefined, { ref: false })])
      : ended)
    if (!body.closed) leaveOpen(body)
    return storableText(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString())
  }

  function leaveOpen(body: Body): void {
    if (open === mostLeftOpen) {
      body.destroy()
      return
    }
    open += 1
    const late = setTimeout(() => body.destroy(), timeoutMs)
    body.once('close', () => {
      clearTimeout(late)
      open -= 1
    })
  }
}
