import { Type } from '@sinclair/typebox'
import type { FastifyError } from 'fastify'
import type { Log } from '../log/log.ts'
import { nullable } from './fields/schemas.ts'
import { problemOf } from './problem.ts'

export const itemAnswer = {
  status: Type.Integer({ description: 'the status that a single call would get' }),
  code: nullable(Type.String()),
  detail: nullable(Type.String()),
}
export type ItemAnswer = { status: number; code: string | null; detail: string | null }

type How = {
  log: Pick<Log, 'error'>
  requestId: string | null
  /** The status of an item that succeeded. */
  status: number
  /** Whether a failure of ours at one item fails the call, which then does none of them. */
  isWhole: boolean
}

/** Once the service is unavailable, the rest fail at once instead of each waiting for the same time-out. */
export async function answerEach<Item>(
  items: Item[],
  how: How,
  call: (item: Item) => Promise<unknown>,
): Promise<ItemAnswer[]> {
  const answers: ItemAnswer[] = []
  for (const item of items) {
    const last = answers.at(-1)
    answers.push(last?.status === 503 ? last : await answerOne(how, () => call(item)))
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
