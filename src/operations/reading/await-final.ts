import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database, Row } from '../../database/database.ts'

/** One query serves all waiting callers, this often, and only while somebody is waiting. */
const ASK_EVERY_MS = 25

export function awaitFinal(db: Database, mostWaiting: number) {
  const waiting = new Map<string, Set<() => void>>()
  let callers = 0
  let isAsking = false
  let isReleased = false

  return { isFull: () => callers >= mostWaiting, wait, release }

  function wait(id: string, timeoutMs: number, response: ServerResponse): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        callers--
        clearTimeout(timer)
        response.off('close', done)
        const others = waiting.get(id)
        others?.delete(done)
        if (others?.size === 0) waiting.delete(id)
        resolve()
      }
      callers++
      response.once('close', done)
      const timer = setTimeout(done, timeoutMs)
      waiting.set(id, (waiting.get(id) ?? new Set()).add(done))
      if (isReleased || response.destroyed) done()
      else if (!isAsking) void ask()
    })
  }

  /** Waits must not delay a stop. */
  function release(): void {
    isReleased = true
    for (const callers of [...waiting.values()]) for (const done of [...callers]) done()
  }

  async function ask(): Promise<void> {
    isAsking = true
    while (waiting.size > 0) {
      await sleep(ASK_EVERY_MS)
      // While the database is down nothing becomes final; the callers' own timeouts keep running.
      for (const id of await finalOf(db, [...waiting.keys()]).catch(() => [])) {
        for (const done of waiting.get(id) ?? []) done()
      }
    }
    isAsking = false
  }
}

async function finalOf(db: Database, ids: string[]): Promise<string[]> {
  const { rows } = await sql<Row<'loanops.operation', 'id'>>`
    select id from loanops.operation where id = any(${ids}) and status <> 'processing'`.execute(db)
  return rows.map(({ id }) => id)
}
