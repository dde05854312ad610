import { caller } from '../support/service.ts'
import type { Place } from './cluster.ts'
import { story } from './stories.ts'

const AGAIN_AFTER_MS = 100
/** Between two stories of one caller: a load that the processes carry between their deaths. */
const PAUSE_MS = 700
/** An answer that does not come is asked for at another process. */
const PATIENCE_MS = 3_000

/** Callers who, without an answer, send the same again under the same Idempotency-Key. @returns the ids answered 202 */
export async function runCallers(
  apis: Place[],
  options: { callers: number; isEnough(sent: number): boolean; draw: () => number },
): Promise<string[]> {
  const acknowledged: string[] = []
  let sent = 0
  let stories = 0
  await Promise.all(Array.from({ length: options.callers }, runCaller))
  return acknowledged

  async function runCaller(): Promise<void> {
    while (!options.isEnough(sent)) {
      const name = String(++stories)
      const told = story(name, options.draw)
      sent += told.length
      for (const [number, [status, data]] of told.entries())
        acknowledged.push(await insist(`${name}-${number}`, { status, data }))
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    }
  }

  async function insist(key: string, body: object): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const place = apis[attempt % apis.length] as Place
      const answer = await withPatience(
        caller(place.url)('POST', '/api/ledger/operate', body, { 'idempotency-key': key }),
      )
      if (answer?.status === 202) return answer.body.tracking_id.split('|')[1]
      if (answer !== undefined && answer.status < 500)
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      await new Promise(resolve => setTimeout(resolve, AGAIN_AFTER_MS))
    }
  }
}

function withPatience<T>(answer: Promise<T>): Promise<T | undefined> {
  const late = new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), PATIENCE_MS))
  return Promise.race([answer.catch(() => undefined), late])
}
