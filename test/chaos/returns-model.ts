import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import type { SentPayment } from './callers.ts'
import { isRecovered, isTaken, isUndecided, type Return } from './returns.ts'

/** What became of refunds and disputes; all of `wrong` must be 0. */
type ReturnsVerdict = {
  /** Per ending at the gateway, how many there are, and how many of them are taken out of their payments. */
  endings: Record<string, { all: number; taken: number }>
  wrong: {
    /** Unknown here, although their gateway has them. */
    unknown: number
    /** Taken out of a payment although its gateway has not, and no person did it. */
    takenAlone: number
    /** Not taken out of a payment that stands with as much, and about which no person decided. */
    leftIn: number
    /** Payments that stand with another amount than what was captured less what was taken. */
    misstated: number
    /** Payments that are held for a refund or dispute of which nothing is left. */
    heldForNothing: number
  }
}

type Row = {
  gateway: string
  id: string
  kind: string
  state: string
  reason: string | null
  objection: string | null
  isTaken: boolean
  standingPaise: number
  /** A person has decided about it, at any time. */
  isDecided: boolean
}

export async function judgeReturns(db: Database, sent: SentPayment[]): Promise<ReturnsVerdict> {
  const { rows } = await sql<Row>`
    select t.gateway, t.gateway_payment_id as id, t.kind, t.state, t.reason, t.objection,
           t.kind <> 'payment' and t.returned_amount is not null as "isTaken",
           (core.posted_amount(t) * 100)::float8 as "standingPaise",
           exists (select from loanops.audit a
                    where a.subject = t.gateway || '/' || t.gateway_payment_id and a.action <> 'payment.note') as "isDecided"
      from core.transaction t`.execute(db)
  const known = new Map(rows.map(row => [`${row.gateway} ${row.id}`, row]))
  const cases = sent.flatMap(paid => {
    const row = known.get(`${paid.gateway} ${paid.id}`)
    const returns = paid.returns.map(one => ({
      ...one,
      row: known.get(`${paid.gateway} ${one.id}`),
    }))
    return row === undefined || returns.length === 0 ? [] : [{ paid, row, returns }]
  })
  const all = cases.flatMap(({ returns }) => returns)
  const untouched = cases.filter(({ row, returns }) =>
    [row, ...returns.map(one => one.row)].every(one => one?.isDecided !== true),
  )
  const standing = untouched.filter(({ row }) => ['posted', 'returned'].includes(row.state))
  return {
    endings: Object.fromEntries(
      [...Map.groupBy(all, one => `${one.kind} ${one.status}`)].map(([ending, of]) => [
        ending,
        { all: of.length, taken: of.filter(({ row }) => row?.isTaken).length },
      ]),
    ),
    wrong: {
      unknown: all.filter(({ row }) => row === undefined).length,
      takenAlone: all.filter(one => one.row?.isTaken && !one.row.isDecided && !mayBeTaken(one))
        .length,
      leftIn: standing.flatMap(({ row, returns }) =>
        returns.filter(
          one =>
            isTaken(one) &&
            !one.row?.isTaken &&
            one.row?.reason !== 'reversal_refused' &&
            one.paise <= row.standingPaise,
        ),
      ).length,
      misstated: standing.filter(({ paid, row, returns }) => {
        const taken = returns.filter(one => one.row?.isTaken)
        return row.standingPaise !== taken.reduce((left, { paise }) => left - paise, paid.paise)
      }).length,
      heldForNothing: untouched.filter(
        ({ row, returns }) =>
          row.state === 'suspense' &&
          ['refund', 'chargeback'].includes(row.reason ?? '') &&
          !returns.some(one => isUndecided(one) || isTaken(one)),
      ).length,
    },
  }
}

/** One that was lost and then won stays taken, with an objection, until a person restores it. */
const mayBeTaken = (one: Return & { row: Row | undefined }) =>
  isTaken(one) || (isRecovered(one) && one.row?.objection === 'taken_back')
