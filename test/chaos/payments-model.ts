import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { type Books, booksAt } from '../support/ledger/ledger-driver.ts'
import type { SentPayment } from './callers.ts'

/** The figures behind the promises for payments. All of `wrong` must be 0, and `held` must equal `captured`. */
type PaymentVerdict = {
  /** Payments with at least one event that was answered with 200. */
  received: number
  /** Payments that are known although none of their webhooks arrived. */
  onlyFetched: number
  inState: Record<string, number>
  /** The amount captured according to the gateways, and how much of it is posted, on its way, in suspense or decided on. */
  capturedPaise: number
  heldPaise: number
  /** Repayments that were undone, or made smaller, because their money went back. */
  reversals: { whole: number; partly: number; refused: number }
  wrong: {
    /** Captured, or answered with 200, but missing. */
    missing: number
    /** Present, but never sent. */
    invented: number
    /** Posted, but not exactly once and valid in the ledger's books with the right amount on the right loan. */
    posted: number
    /** Returned, although a part of it stands. */
    returned: number
    /** Proved refunds and lost disputes of posted payments that were neither booked nor refused, although they fit. */
    unreversed: number
    /** Not posted, but in the ledger's books. */
    unposted: number
    /** Loans whose balance at the ledger is not what was posted on them less what was reversed. */
    unbalanced: number
    /** Payments in suspense for want of a loan, although their orders are registered, and nobody reopened them. */
    unmatched: number
    /** Still in progress, although everything has ended. */
    unfinished: number
    /** Events that count towards a payment, refund or chargeback without a row. */
    unrecorded: number
  }
}

/** After its repayment was undone, a payment is posted under another id. */
const POSTED_AGAIN = /-r\d+$/
/** Where captured money may be. */
const HELD = ['posted', 'posting', 'waiting', 'suspense', 'handled', 'dismissed', 'returned']

type Row = {
  gateway: string
  id: string
  loan: string | null
  state: string
  reason: string | null
  paise: string
  /** What has not gone back. */
  standingPaise: string
  /** It then stays in suspense for the reason that it had, until somebody decides again. */
  isReopened: boolean
}

/** Compares each payment's outcome with the gateways' and the ledger's books. */
export async function judgePayments(
  db: Database,
  sent: SentPayment[],
  controlUrl: string,
): Promise<PaymentVerdict> {
  const { rows } = await sql<Row>`
    select gateway, gateway_payment_id as id, external_loan_id as loan, state, reason, (amount * 100)::bigint::text as paise,
           ((amount - coalesce(returned_amount, 0)) * 100)::bigint::text as "standingPaise",
           (select t.decision is null and t.decided_over is not null from core.transaction t where t.id = p.id) as "isReopened"
      from ops.payment p where kind = 'payment'`.execute(db)
  const books = await booksAt(controlUrl)
  const repayments = Map.groupBy(
    books.transactions.filter(one => one.type === 'repayment' && !one.reversed),
    ({ externalId }) => String(externalId).replace(POSTED_AGAIN, ''),
  )
  const inBooks = (row: Row) => repayments.get(`${row.gateway}-${row.id}`) ?? []
  const isRight = (row: Row) =>
    inBooks(row).length === 1 &&
    inBooks(row).every(
      one => paiseOf(one.amount) === Number(row.standingPaise) && one.loanExternalId === row.loan,
    )
  const count = (is: (row: Row) => boolean) => rows.filter(is).length
  const name = ({ gateway, id }: { gateway: string; id: string }) => `${gateway} ${id}`
  const known = new Set(rows.map(name))
  const given = new Set(sent.map(name))
  const byOrder = new Set(sent.filter(paid => paid.isByOrder).map(name))
  return {
    received: sent.filter(({ isTold }) => isTold).length,
    onlyFetched: sent.filter(paid => !paid.isTold && known.has(name(paid))).length,
    inState: Object.fromEntries(
      [...Map.groupBy(rows, ({ state }) => state)].map(([state, of]) => [state, of.length]),
    ),
    capturedPaise: sum(sent.filter(({ isCaptured }) => isCaptured).map(({ paise }) => paise)),
    heldPaise: sum(
      rows.filter(({ state }) => HELD.includes(state)).map(({ paise }) => Number(paise)),
    ),
    reversals: await reversalsIn(db),
    wrong: {
      missing: sent.filter(paid => (paid.isTold || paid.isCaptured) && !known.has(name(paid)))
        .length,
      invented: count(row => !given.has(name(row))),
      posted: count(row => row.state === 'posted' && !isRight(row)),
      returned: count(row => row.state === 'returned' && Number(row.standingPaise) !== 0),
      unreversed: await unreversed(db),
      unposted: count(row => row.state !== 'posted' && inBooks(row).length > 0),
      unbalanced: unbalanced(rows, books),
      unmatched: count(
        row => row.reason === 'no_loan_named' && byOrder.has(name(row)) && !row.isReopened,
      ),
      unfinished: count(({ state }) => state === 'posting' || state === 'waiting'),
      unrecorded: await unrecorded(db),
    },
  }
}

/** All loans have the same terms, so that what they owe differs only by what was repaid. */
function unbalanced(rows: Row[], { loans }: Books): number {
  const posted = Map.groupBy(
    rows.filter(({ state }) => state === 'posted'),
    ({ loan }) => loan,
  )
  const repaid = (loan: string | null) =>
    sum((posted.get(loan) ?? []).map(({ standingPaise }) => Number(standingPaise)))
  const paid = new Set(rows.map(({ loan }) => loan))
  const owed = loans
    .filter(one => one.outstanding !== null && paid.has(one.externalId))
    .map(one => paiseOf(one.outstanding ?? '') + repaid(one.externalId))
  return owed.filter(paise => paise !== Math.max(...owed)).length
}

async function reversalsIn(db: Database): Promise<PaymentVerdict['reversals']> {
  const { rows } = await sql<PaymentVerdict['reversals']>`
    select count(*) filter (where status = 'success' and data ->> 'remainder' is null)::integer as whole,
           count(*) filter (where status = 'success' and data ->> 'remainder' is not null)::integer as partly,
           count(*) filter (where status = 'failed')::integer as refused
      from loanops.operation where operation_type = 'REPAYMENT_REVERSAL'`.execute(db)
  return rows[0] as PaymentVerdict['reversals']
}

async function unreversed(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
      from core.transaction r
      join core.transaction p
        on p.gateway_payment_id = r.of_payment_id and p.gateway = r.gateway and p.kind = 'payment'
    cross join lateral core.refund_outcome(r, p.is_captured) s
     where r.kind <> 'payment' and r.state = 'suspense' and r.reason = r.kind and p.state = 'posted'
       and core.is_due(r, p, s.is_undone)`.execute(db)
  return rows[0]?.count as number
}

async function unrecorded(db: Database): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select events::integer as events
      from core.unrecorded('', '00000000-0000-0000-0000-000000000000', 1000000000)`.execute(db)
  return rows[0]?.events as number
}

const sum = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0)

const paiseOf = (rupees: string) => Math.round(Number(rupees) * 100)
