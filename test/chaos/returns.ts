import { dispute, disputeOfB, refund, refundOfB } from '../support/payments/reversals.ts'

/** A payment in the own books of one of the gateways that a run plays. */
export type Paid = {
  gateway: 'gateway_a' | 'gateway_b'
  id: string
  paise: number
  isCaptured: boolean
}

/** A refund or a dispute of a payment, with its gateway's events about it. */
export type Return = {
  kind: 'refund' | 'dispute'
  id: string
  paise: number
  /** How it ended, as in its gateway's own books. */
  status: string
  events: object[]
}

/** The others are refunds. */
const DISPUTED = 0.5
/** Lost, and won in the phase after it. */
const RECOVERED = 'recovered'
/** The events of a dispute until it ends as the last of them says, or as the name before them. */
const DISPUTES: Record<Paid['gateway'], Record<string, string[]>> = {
  gateway_a: {
    open: ['created'],
    under_review: ['created', 'under_review'],
    won: ['created', 'won'],
    lost: ['created', 'under_review', 'lost'],
    closed: ['created', 'closed'],
    [RECOVERED]: ['lost', 'won'],
  },
  gateway_b: {
    open: ['DISPUTE_CREATED'],
    under_review: ['DISPUTE_CREATED', 'DISPUTE_UNDER_REVIEW'],
    won: ['DISPUTE_CREATED', 'DISPUTE_MERCHANT_WON'],
    lost: ['DISPUTE_CREATED', 'DISPUTE_MERCHANT_LOST'],
    accepted: ['DISPUTE_CREATED', 'DISPUTE_MERCHANT_ACCEPTED'],
  },
}
const TAKEN = ['processed', 'lost', 'accepted']

/** Whether its money has gone back. */
export const isTaken = ({ status }: Return) => TAKEN.includes(status)
/** Whether its money may go back. */
export const isUndecided = ({ status }: Return) => ['open', 'under_review'].includes(status)
export const isRecovered = ({ status }: Return) => status === RECOVERED

/** What goes back of a captured payment, or may. */
export function returnsOf(paid: Paid, loan: string, draw: () => number): Return[] {
  return partsOf(paid.paise, draw).map((paise, i) =>
    draw() < DISPUTED ? disputed(paid, loan, paise, i, draw) : refunded(paid, paise, i),
  )
}

/** All of it, or a part or two of it, or more than it. */
function partsOf(paise: number, draw: () => number): number[] {
  const part = 1 + Math.floor(draw() * paise)
  const kind = draw()
  if (kind < 0.3) return [paise]
  if (kind < 0.4) return [paise + part]
  return kind < 0.7 ? [part] : [part, Math.max(1, paise - part)]
}

function refunded({ gateway, id: of }: Paid, paise: number, i: number): Return {
  const id = gateway === 'gateway_a' ? `rfnd_${of}_${i}` : `${of}0${i}`
  const event =
    gateway === 'gateway_a' ? refund({ id, of, paise }) : refundOfB(paise / 100, { id, of })
  return { kind: 'refund', id, paise, status: 'processed', events: [event] }
}

function disputed(paid: Paid, loan: string, paise: number, i: number, draw: () => number): Return {
  const endings = Object.entries(DISPUTES[paid.gateway])
  const [status, told] = endings[Math.floor(draw() * endings.length)] as [string, string[]]
  const id = `disp_${paid.id}_${i}`
  const events = told.map(said => {
    if (paid.gateway === 'gateway_b') return disputeOfB(said, paise / 100, paid.id, id)
    const phase = status === RECOVERED && said === 'won' ? 'arbitration' : 'chargeback'
    return dispute(said, { id, of: paid.id, paise, phase, loan, paid: paid.paise })
  })
  return { kind: 'dispute', id, paise, status, events }
}
