import { lenderOf, type Story, story } from '../chaos/stories.ts'
import { TOKEN } from '../support/service.ts'
import type { Post } from './post.ts'

/** Stories told at the same time: at 50/s, each is continued about once a second, like a caller with many loans. */
const MAX_CONCURRENT_STORIES = 64
/** A loan is paid once its disbursal is surely over, so that what becomes of a payment is known beforehand. */
const PAID_AFTER_MS = 15_000
/** This many of the newest loans are paid; each gets its instalments, and none is overpaid. */
const PAID_LOANS = 2_000

export type Accepted = { id: string; sentAt: number }
export type Loan = { externalId: string; lender: string }
type Told = { number: number; left: Story; told: Promise<void> }

/** The lives of ever new loans and clients, operation by operation. */
export function operationSender(post: Post, draw: () => number) {
  const accepted: Accepted[] = []
  const disbursed: (Loan & { at: number })[] = []
  const payable: Loan[] = []
  let stories = 0
  let turn = 0
  const telling = Array.from({ length: MAX_CONCURRENT_STORIES }, begin)

  return {
    /** The operations in the order of their acceptance. */
    accepted,
    /** Sends the next operation of one of the stories, once the one before it was accepted. */
    async send(): Promise<void> {
      const place = turn++ % MAX_CONCURRENT_STORIES
      const one = telling[place] as Told
      const [status, data] = one.left.shift() as Story[number]
      if (one.left.length === 0) telling[place] = begin()
      one.told = one.told.then(() => submit(one.number, status, data))
      await one.told
    },
    /** A loan that is active at the ledger; undefined while there is none. */
    loanToPay(): Loan | undefined {
      while ((disbursed[0]?.at ?? Number.POSITIVE_INFINITY) < Date.now() - PAID_AFTER_MS)
        payable.push(disbursed.shift() as Loan)
      if (payable.length > PAID_LOANS) payable.splice(0, payable.length - PAID_LOANS)
      return payable[Math.floor(draw() * payable.length)]
    },
  }

  function begin(): Told {
    const number = ++stories
    return { number, left: story(number, draw), told: Promise.resolve() }
  }

  async function submit(number: number, status: string, data: object): Promise<void> {
    const sentAt = Date.now()
    const body = JSON.stringify({ status, data })
    const { tracking_id } = await post('/api/ledger/operate', body, { 'x-internal-token': TOKEN })
    accepted.push({ id: tracking_id.split('|')[1], sentAt })
    if (status === 'LOAN_DISBURSE')
      disbursed.push({ externalId: `L-${number}`, lender: lenderOf(number), at: Date.now() })
  }
}
