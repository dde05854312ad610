import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import type { Database } from '../../src/database/database.ts'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { listen } from '../support/http/serve.ts'

const MAX_DELAY_MS = 300
/** How often the receiver misbehaves in each way. */
const MISBEHAVIOUR = { drop: 0.05, error: 0.05, redirect: 0.02, hang: 0.005 }

type Received = { id: string; subject: string; sequence: number; text: string; isTaken: boolean }

/** What the promises about callbacks come to. All but the first two counts have to be 0. */
type CallbackVerdict = {
  reported: number
  /** Taken by the receiver more than once, which the promise allows. */
  deliveredTwice: number
  /** Final operations of callers that the receiver never took a report of. */
  unreported: number
  /** Reports of what did not happen, or happened otherwise. */
  untrue: number
  badlySigned: number
  /** Attempts of one callback with different bodies. */
  changed: number
  /** First taken after a later one of its subject. */
  outOfOrder: number
}

/** A receiver that drops, delays and answers falsely, until it is told to behave. */
export async function startReceiver(draw: () => number) {
  const secret = callbackSecret()
  const received: Received[] = []
  let badlySigned = 0
  let isBehaving = false
  const { url, close } = await listen(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    try {
      new Webhook(secret).verify(text, request.headers as Record<string, string>)
    } catch {
      badlySigned++
    }
    const status = isBehaving ? 200 : misbehave(draw, response)
    const { data, sequence } = JSON.parse(text)
    const isTaken = status === 200
    const id = String(request.headers['webhook-id'])
    const subject = data.external_id ?? data.external_loan_id ?? data.gateway_payment_id
    received.push({ id, subject, sequence, text, isTaken })
    if (status === 0) return
    const delayMs = isBehaving ? 0 : draw() * MAX_DELAY_MS
    setTimeout(() => response.writeHead(status, { location: '/' }).end(), delayMs)
  })
  return {
    settings: { CALLBACK_URL: `${url}/`, CALLBACK_SECRET: secret, CALLBACK_TIMEOUT_MS: '1000' },
    behave() {
      isBehaving = true
    },
    judge: (db: Database) => judge(db, received, badlySigned),
    close,
  }
}

/** @returns the status to answer with; 0 where there is no answer */
function misbehave(draw: () => number, response: ServerResponse): number {
  const { drop, error, redirect, hang } = MISBEHAVIOUR
  const chance = draw()
  if (chance < drop) {
    response.destroy()
    return 0
  }
  if (chance < drop + error) return 500
  if (chance < drop + error + redirect) return 302
  return chance < drop + error + redirect + hang ? 0 : 200
}

async function judge(db: Database, received: Received[], badlySigned: number) {
  const { rows } = await sql<{ trackingId: string; status: string }>`
    select operation_type || '|' || id as "trackingId", status from loanops.operation
     where origin = 'api' and status <> 'processing'`.execute(db)
  const ended = new Map(rows.map(({ trackingId, status }) => [trackingId, status]))
  const taken = received.filter(({ isTaken }) => isTaken)
  const bodies = taken.map(({ text }) => JSON.parse(text))
  const reported = new Set(bodies.map(({ data }) => data.tracking_id))
  const takenOf = Map.groupBy(taken, ({ id }) => id)
  const textsOf = Map.groupBy(received, ({ id }) => id)
  return {
    reported: takenOf.size,
    deliveredTwice: [...takenOf.values()].filter(({ length }) => length > 1).length,
    unreported: rows.filter(({ trackingId }) => !reported.has(trackingId)).length,
    untrue: bodies.filter(
      ({ data }) => data.tracking_id !== undefined && ended.get(data.tracking_id) !== data.status,
    ).length,
    badlySigned,
    changed: [...textsOf.values()].filter(list => new Set(list.map(({ text }) => text)).size > 1)
      .length,
    outOfOrder: outOfOrder(taken),
  } satisfies CallbackVerdict
}

function outOfOrder(taken: Received[]): number {
  const seen = new Set<string>()
  const lastOf = new Map<string, number>()
  let count = 0
  for (const { id, subject, sequence } of taken) {
    if (seen.has(id)) continue
    seen.add(id)
    if (sequence < (lastOf.get(subject) ?? 0)) count++
    lastOf.set(subject, sequence)
  }
  return count
}
