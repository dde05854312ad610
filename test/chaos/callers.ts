import { signedA, signedB } from '../support/payments/gateway-events.ts'
import { caller } from '../support/service.ts'
import type { Place } from './cluster.ts'
import type { Collecting } from './collecting.ts'
import { SECRET } from './disrupt.ts'
import { telling } from './gateways.ts'
import type { Paid, Return } from './returns.ts'
import { lenderOf, loanOf, story } from './stories.ts'

const AGAIN_AFTER_MS = 100
/** The pause between two stories of one caller, for a load that the processes can handle between kills. */
const PAUSE_MS = 700
/** A call without an answer is repeated at another process. */
const PATIENCE_MS = 3_000
/** Payments arrive whether or not their loan has been disbursed yet. */
const PAYS_AFTER_STORIES = 6
const PAYMENTS_PER_LOAN = 2
/**
 * A loan's money goes back after this many stories of its caller, when a batch or two has mostly posted the payments.
 */
const RETURNS_AFTER_STORIES = 5
/** Gateways send some events twice, even though they were acknowledged. */
const TOLD_TWICE = 0.3
const BATCH_EVERY_MS = 1_500
/** The share of the events that is signed: of the others, only the gateway's API can prove what goes back. */
const SIGNED = 0.5

/** What was acknowledged, and must not be lost: the ids of operations, and the payments. */
export type Answered = {
  operations: string[]
  payments: SentPayment[]
  /** Makes the refunds and disputes whose time has not come yet. */
  returnTheRest(): Promise<void>
}
export type SentPayment = Paid & {
  /** At least one webhook about it arrived. */
  isTold: boolean
  /** Names its loan only by an order that is registered. */
  isByOrder: boolean
  returns: Return[]
}

/** Callers and gateways, which repeat a call that gets no answer. */
export async function runCallers(
  apis: Place[],
  options: {
    callers: number
    isEnough(sent: number): boolean
    draw: () => number
    paysAfterStories?: number
    /** If there is no collecting, every webhook arrives. */
    collecting?: Collecting
  },
): Promise<Answered> {
  const { isEnough, draw, paysAfterStories = PAYS_AFTER_STORIES, collecting } = options
  const unreturned: (() => Promise<void>)[] = []
  const answered: Answered = {
    operations: [],
    payments: [],
    async returnTheRest() {
      for (const payBack of unreturned.splice(0)) await payBack()
    },
  }
  let sent = 0
  let stories = 0
  await Promise.all([...Array.from({ length: options.callers }, runCaller), askForBatches()])
  return answered

  async function runCaller(): Promise<void> {
    const unpaid: number[] = []
    while (!isEnough(sent)) {
      const number = ++stories
      const operations = story(number, draw)
      sent += operations.length
      for (const [step, [status, data]] of operations.entries()) {
        const key = { 'idempotency-key': `${number}-${step}` }
        const { tracking_id } = await insist('/api/ledger/operate', { status, data }, key)
        answered.operations.push(tracking_id.split('|')[1])
      }
      unpaid.push(number)
      if (unpaid.length > paysAfterStories) unreturned.push(await pay(unpaid.shift() as number))
      if (unreturned.length > options.callers * RETURNS_AFTER_STORIES) await unreturned.shift()?.()
      await pause(PAUSE_MS)
    }
  }

  /** @returns makes the refunds and disputes that come later */
  async function pay(number: number): Promise<() => Promise<void>> {
    const late: (() => Promise<boolean>)[] = []
    for (let n = 1; n <= PAYMENTS_PER_LOAN; n++) {
      const told = telling(`${number}0${n}`, loanOf(number), draw)
      const { paid, order, events, returns } = told
      await collecting?.record(told, lenderOf(number))
      const register = async () => {
        if (order === undefined) return
        const body = { external_loan_id: loanOf(number) }
        await insist(`/api/references/gateway_a/order/${order}`, body, {}, 'PUT')
      }
      const payBack = async () => {
        await collecting?.recordReturns(told)
        return tell(
          number,
          paid,
          returns.flatMap(({ events }) => events),
        )
      }
      const isFirst = draw() < 0.5
      if (isFirst) await register()
      const [isTold] = await Promise.all([
        tell(number, paid, events),
        told.isReturnedLate ? late.push(payBack) : payBack(),
      ])
      if (!isFirst) await register()
      answered.payments.push({ ...paid, isTold, isByOrder: order !== undefined, returns })
    }
    return async () => {
      for (const payBack of late) await payBack()
    }
  }

  /** @returns whether any of them arrived */
  async function tell(number: number, { gateway }: Paid, events: object[]): Promise<boolean> {
    const path = `/api/webhooks/${gateway}?lender=${lenderOf(number)}`
    const heard = events.filter(() => !collecting?.losesWebhook())
    const again = heard.filter(() => draw() < TOLD_TWICE)
    await Promise.all(
      [...heard, ...again].map(event =>
        insist(path, event, draw() < SIGNED ? signatureOf(gateway, event) : {}),
      ),
    )
    return heard.length > 0
  }

  async function askForBatches(): Promise<void> {
    while (!isEnough(sent)) {
      await insist('/api/payments/batch')
      await pause(BATCH_EVERY_MS)
    }
  }

  async function insist(
    path: string,
    body?: object,
    headers?: Record<string, string>,
    method = 'POST',
  ) {
    for (let attempt = 0; ; attempt++) {
      const place = apis[attempt % apis.length] as Place
      const answer = await withPatience(caller(place.url)(method, path, body, headers))
      if (answer !== undefined && answer.status < 300) return answer.body
      if (answer !== undefined && answer.status < 500)
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
      await pause(AGAIN_AFTER_MS)
    }
  }
}

const signatureOf = (gateway: string, event: object) =>
  (gateway === 'gateway_a' ? signedA : signedB)(SECRET, JSON.stringify(event))

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

function withPatience<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer.catch(() => undefined), pause(PATIENCE_MS).then(() => undefined)])
}
