import { Type } from '@sinclair/typebox'
import type { FastifyError } from 'fastify'
import type { Log } from '../log/log.ts'
import { NullableText } from './fields/schemas.ts'
import { problemOf } from './problem.ts'

export const itemAnswer = {
  status: Type.Integer({ description: 'the status that a single call would get' }),
  code: NullableText,
  detail: NullableText,
}
export type ItemAnswer = { status: number; code: string | null; detail: string | null }

type How = {
  log: Pick<Log, 'error'>
  requestId: string | null
  status: number
  /** Whether a failure of ours at one item fails the call, which then does none of them. */
  isWhole: boolean
}

/** What was read for an item before the list is worked on. If that failed, only this item fails. */
type Seen<Item, Looked> = { item: Item; seen: PromiseSettledResult<Looked> | undefined }

/** Once the service is unavailable, the rest fail at once instead of each waiting for the same time-out. */
export async function answerEach<Item, Looked>(
  items: Seen<Item, Looked>[],
  how: How,
  call: (item: Item, looked: Looked) => Promise<unknown>,
): Promise<ItemAnswer[]> {
  const answers: ItemAnswer[] = []
  let down: ItemAnswer | undefined
  for (const { item, seen } of items) {
    if (seen?.status === 'rejected') {
      answers.push(await answerOne(how, () => Promise.reject(seen.reason)))
      continue
    }
    const answer = down ?? (await answerOne(how, () => call(item, seen?.value as Looked)))
    if (answer.status === 503) down = answer
    answers.push(answer)
  }
  return answers
}

async function answerOne(
  { log, requestId, status, isWhole }: How,
  call: () => Promise<unknown>,
): Promise<ItemAnswer> {
  try {
    await call()
    return { status, code: null, detail: null }
  } catch (error) {
    const { status, code, detail } = problemOf(error as FastifyError)
    if (status >= 500 && isWhole) throw error
    if (status >= 500) log.error({ err: error, reqId: requestId }, 'one item of a request failed')
    return { status, code, detail }
  }
}
