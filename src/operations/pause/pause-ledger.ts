import { type RawBuilder, sql } from 'kysely'
import { type Asker, audit } from '../../accounts/audit.ts'
import { type Database, inTransaction, type Row, type Trx } from '../../database/database.ts'
import { invalidField } from '../../http/problem.ts'
import { newId } from '../../ids.ts'

export type PauseState = {
  paused: boolean
  reason: string | null
  since: Date | null
  until: Date | null
}

export async function pauseLedger(
  db: Database,
  { reason, until }: { reason: string; until: Date | null },
  asker: Asker,
): Promise<PauseState> {
  return alone(db, async trx => {
    if (until !== null && (await isOver(trx, until)))
      throw invalidField('/until', 'must be in the future')
    const changed = await changePause(trx, sql`reason = ${reason}, until = ${until}`)
    const { rows } = changed
      ? { rows: [changed] }
      : await sql<Pause>`
          insert into loanops.ledger_pause (id, reason, until) values (${newId()}, ${reason}, ${until})
          returning reason, since, until`.execute(trx)
    await audit(trx, {
      ...asker,
      action: 'ledger.pause',
      subject: 'ledger',
      detail: { reason, until },
    })
    return { paused: true, ...(rows[0] as Pause) }
  })
}

export function resumeLedger(db: Database, asker: Asker): Promise<PauseState> {
  return alone(db, async trx => {
    await changePause(trx, sql`until = clock_timestamp()`)
    await audit(trx, { ...asker, action: 'ledger.resume', subject: 'ledger' })
    return { paused: false, reason: null, since: null, until: null }
  })
}

type Pause = Row<'loanops.ledger_pause', 'reason' | 'since' | 'until'>

/** Makes one change at a time: there is at most one pause under way. */
function alone<T>(db: Database, change: (trx: Trx) => Promise<T>): Promise<T> {
  return inTransaction(db, async trx => {
    await lockPause(trx)
    return change(trx)
  })
}

export async function lockPause(trx: Trx): Promise<void> {
  await sql`lock table loanops.ledger_pause in share row exclusive mode`.execute(trx)
}

/** Whether the time is over by the clock that ends the pause. */
export async function isOver(trx: Trx, until: Date): Promise<boolean> {
  const { rows } = await sql`select where ${until} <= clock_timestamp()`.execute(trx)
  return rows.length > 0
}

async function changePause(trx: Trx, change: RawBuilder<unknown>): Promise<Pause | undefined> {
  const { rows } = await sql<Pause>`
    update loanops.ledger_pause set ${change}
     where until is null or until > clock_timestamp()
    returning reason, since, until`.execute(trx)
  return rows[0]
}
