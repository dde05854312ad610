// node test/bench/callbacks.ts [PENDING]: callbacks per second to a receiver that answers at once, how long one takes from
// its change to the receiver at 50 a second, alone and behind so many pending ones, and what operations notice of a receiver
// that hangs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/database/database.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { callbackSecret } from '../support/callbacks/callback-secret.ts'
import { fire, newClients, quantile } from './fire.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'
import { untilAllFinal } from './stage.ts'

const PENDING = Number(process.argv[2] ?? 100_000)
const PER_SECOND = 50
const OPERATIONS = 500
const ROUNDS = 5

/** p50 and p99 of each in milliseconds, and operations per second as fast as they go. */
type Round = { final: number[]; received: number[]; rate: number }

let isHanging = false
let isDown = false
const receivedAt = new Map<string, number>()
const receiver = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const { data } = JSON.parse(text)
  if (data.external_id !== undefined) receivedAt.set(data.external_id, Date.now())
  if (isHanging) return
  response.writeHead(isDown ? 500 : 204).end()
})
receiver.listen(0, '127.0.0.1')
await new Promise(done => receiver.once('listening', done))
const ledger = await startSandbox({ port: 0 })
const service = await startBenched('callbacks', ledger.url, {
  CALLBACK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  CALLBACK_SECRET: callbackSecret(),
})
const db = openDatabase(service.databaseUrl, { max: 2, name: 'bench', onError: () => undefined })

try {
  const rounds = { alone: [] as Round[], hanging: [] as Round[] }
  for (let n = 0; n < ROUNDS; n++) {
    rounds.alone.push(await round(`alone-${n}`))
    isHanging = true
    rounds.hanging.push(await round(`hanging-${n}`))
    isHanging = false
    receiver.closeAllConnections()
    await sql`update loanops.callback_receiver set failures = 0`.execute(db)
    await drained()
  }
  const [alone, hanging] = [medians(rounds.alone), medians(rounds.hanging)]
  isDown = true
  await addPending()
  isDown = false
  await sql`update loanops.callback_receiver set failures = 0`.execute(db)
  const startedAt = performance.now()
  const during = await atFiftyPerSecond('during')
  await drained()
  const seconds = (performance.now() - startedAt) / 1_000
  console.log(
    JSON.stringify({
      pending: PENDING,
      delivered_per_second: Math.round(PENDING / seconds),
      final_to_received_ms: { alone: alone.received, during: during.received },
      submit_to_final_ms: { alone: alone.final, hanging: hanging.final, during: during.final },
      executed_per_second: { alone: alone.rate, hanging: hanging.rate },
      peak_mib: service.peakMiB(),
    }),
  )
} finally {
  await db.destroy()
  await service.close()
  await ledger.close()
  receiver.closeAllConnections()
  receiver.close()
}

/** Adds many callbacks of as many payments, as after an outage. */
async function addPending(): Promise<void> {
  await sql`
    insert into loanops.callback (type, subject, about, occurred_at, snapshot)
    select 'payment.posted', 'loan:L-' || n, raw.new_id(), now(), json_build_object('gateway_payment_id', 'pay_' || n,
           'amount', '1000.00', 'currency', 'INR', 'state', 'posted')
      from generate_series(1, ${PENDING}) n`.execute(db)
  for (let isNumbered = false; !isNumbered; await pause(100)) {
    const { rows } = await sql`select from loanops.callback where body is null limit 1`.execute(db)
    isNumbered = rows.length === 0
  }
}

async function drained(): Promise<void> {
  for (;;) {
    const { rows } =
      await sql`select from loanops.callback where state = 'pending' limit 1`.execute(db)
    if (rows.length === 0) return
    await pause(100)
  }
}

async function round(name: string): Promise<Round> {
  const { final, received } = await atFiftyPerSecond(name)
  return { final, received, rate: await burst(name) }
}

function medians(rounds: Round[]): Round {
  const of = (figure: (round: Round) => number) => median(rounds.map(figure))
  const both = (which: 'final' | 'received') => [
    of(round => round[which][0] as number),
    of(round => round[which][1] as number),
  ]
  return { final: both('final'), received: both('received'), rate: of(({ rate }) => rate) }
}

/** @returns operations per second from the first submission to the last one that is final, as fast as they go */
async function burst(name: string): Promise<number> {
  const since = performance.now()
  const load = { connections: 32, seconds: 4, warmUpSeconds: 0 }
  const { accepted } = await fire(service.url, newClients(`burst-${name}`), load)
  await untilAllFinal(db)
  return Math.round(accepted / ((performance.now() - since) / 1_000))
}

/** p50 and p99 of submit to final, and of final to received. */
async function atFiftyPerSecond(name: string) {
  const sent = new Map<string, number>()
  const from = Date.now()
  const requests: Promise<unknown>[] = []
  for (let n = 0; n < OPERATIONS; n++) {
    await pause(Math.max(0, from + (n * 1_000) / PER_SECOND - Date.now()))
    const externalId = `${name}-${n}`
    sent.set(externalId, Date.now())
    const data = {
      externalId,
      firstname: 'Asha',
      lastname: 'Rao',
      activationDate: '05 January 2024',
    }
    requests.push(service.call('POST', '/api/ledger/operate', { status: 'CLIENT_CREATE', data }))
  }
  await Promise.all(requests)
  await pause(2_000)
  const { rows } = await sql<{ id: string; at: number }>`
    select external_id as id, (extract(epoch from processed_at) * 1000)::float8 as at
      from loanops.operation
       where external_id = any(${[...sent.keys()]}) and processed_at is not null`.execute(db)
  if (rows.length !== OPERATIONS) throw new Error(`${rows.length} of ${OPERATIONS} are final`)
  const times = (list: number[]) => {
    const sorted = list.toSorted((a, b) => a - b)
    return [quantile(sorted, 0.5), quantile(sorted, 0.99)].map(Math.round)
  }
  const received = rows.filter(({ id }) => receivedAt.has(id))
  return {
    final: times(rows.map(({ id, at }) => at - (sent.get(id) as number))),
    received: times(received.map(({ id, at }) => (receivedAt.get(id) as number) - at)),
  }
}
