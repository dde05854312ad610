import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import { crashPoint } from '../../crash-point.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Trace } from '../../ops/traces/traces.ts'
import { GatewayUnavailable, isGatewayError } from '../../payments/gateways/items/gateway-errors.ts'
import type { PaymentKind } from '../../payments/payment-record.ts'
import type { Run } from '../../queue/run-job.ts'
import { IMPATIENT } from '../apis/gateway-call.ts'
import { gatewayOfAccount, type Inquiry, withGatewayApi } from '../apis/open-gateway-api.ts'
import { readMinorUnits } from '../apis/read-minor-units.ts'
import { nameOf } from '../backfill/accounts.ts'
import { ask, type Confirmation, MAX_REFS, type Question } from './ask.ts'
import { type Asked, saveAnswers } from './save-answers.ts'

/** All of these are asked before any answer is recorded, so at most this many are repeated after a crash. */
const QUESTIONS_AT_ONCE = 50
/**
 * This many failures in a row mean that the gateway, or one of its resources, is down: the rest waits for
 * the next batch.
 */
const MAX_FAILURES_IN_A_ROW = IMPATIENT.atOnce
/** The limit is per account and batch, which must end in time for the next one. */
const MAX_QUESTIONS = 2_000
const MAX_ASKING_MS = 60_000

/** The gateway asked us to send nothing before `from`. */
export type Budget = {
  questions: number
  from: number
  until: number
  failures: Record<PaymentKind, number>
}

/** Longer waits are cut to this: a question that then comes too early gets another Retry-After. */
const MAX_REST_MS = 3_600_000

export const newBudget = (from = 0): Budget => ({
  questions: MAX_QUESTIONS,
  from,
  until: performance.now() + MAX_ASKING_MS,
  failures: { payment: 0, refund: 0, chargeback: 0 },
})

type Context = Pick<WorkerContext, 'patient' | 'log' | 'metrics'> & { config: Config }

export async function askAccount(
  context: Context,
  run: Run,
  account: GatewayAccount,
  { budget, trace }: { budget: Budget; trace: Trace },
): Promise<number> {
  const { patient: db, config, metrics } = context
  const majorUnits = await readMinorUnits(db)
  const open = { account, majorUnits, trace, metrics, patience: IMPATIENT }
  return withGatewayApi(config, open, run.stopping, async api => {
    const { lenders } = config
    const inquiry = { db, api, account, gateway: gatewayOfAccount(config, account), lenders }
    let answers = 0
    while (isLeft(budget)) {
      run.check()
      const questions = await nextQuestions(inquiry, run, budget)
      if (questions.length === 0) break
      const asked = await askAll(context, inquiry, questions, budget)
      budget.questions -= asked.length
      // A stopping process has aborted the calls itself, which says nothing about the gateway.
      run.check()
      crashPoint('confirm.answered')
      await saveAnswers(db, run, account, asked)
      answers += asked.filter(({ answer }) => answer !== null).length
    }
    return answers
  })
}

const isLeft = ({ questions, from, until, failures }: Budget) =>
  questions > 0 &&
  failures.payment < MAX_FAILURES_IN_A_ROW &&
  performance.now() >= from &&
  performance.now() < until

async function nextQuestions(
  { db, account, gateway }: Inquiry,
  { claim }: Run,
  { questions }: Budget,
): Promise<Question[]> {
  const most = Math.min(questions, QUESTIONS_AT_ONCE)
  const { rows } = await sql<Question>`
    select kind, id, refs, asked
      from core.next_questions(${account.gateway}, ${nameOf(account)}, ${claim.id}, ${gateway.client.isQueriedByOrder ?? false}, ${most},
        ${MAX_REFS + 1})`.execute(db)
  return rows
}

/** @returns null for a question without an answer; questions that were not asked are left out */
async function askAll({ log }: Context, inquiry: Inquiry, questions: Question[], budget: Budget) {
  const asked: Asked[] = []
  const left = questions.values()
  await Promise.all(Array.from({ length: IMPATIENT.atOnce }, askNext))
  return asked

  async function askNext(): Promise<void> {
    while (isLeft(budget)) {
      const question = left.next().value
      if (question === undefined) return
      asked.push({ question, answer: await answerTo(question) })
    }
  }

  /** The answer, or null if there is none. When one kind of question keeps failing, the others go ahead. */
  async function answerTo(question: Question): Promise<Confirmation | null> {
    const { failures } = budget
    if (failures[question.kind] >= MAX_FAILURES_IN_A_ROW) return null
    try {
      const answer = await ask(inquiry, question)
      failures[question.kind] = 0
      return answer
    } catch (error) {
      if (!isGatewayError(error)) throw error
      const { gateway, lender } = inquiry.account
      if (error instanceof GatewayUnavailable && error.retryAfterMs > 0)
        budget.from = performance.now() + Math.min(error.retryAfterMs, MAX_REST_MS)
      if (failures[question.kind]++ === 0)
        log.warn({ gateway, lender, reason: error.message }, 'a gateway could not be queried')
      return null
    }
  }
}
