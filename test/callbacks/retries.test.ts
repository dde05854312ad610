import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { nextRetryMs } from '../../src/callbacks/sending/next-retry.ts'
import type { Database } from '../../src/database/database.ts'
import { retryAfterMs } from '../../src/http/retry-after.ts'
import { callbackReceiver } from '../support/callbacks/callback-receiver.ts'
import { ending, submit } from '../support/engine/operations.ts'
import { clientData } from '../support/ledger/loans.ts'
import { matchEach } from '../support/match-each.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A service whose callbacks come to a receiver of the test's. */
async function reporting(t: Test) {
  const receiver = await callbackReceiver(t)
  const service = await startTestService(t, receiver.settings)
  return { receiver, service }
}

/** One client's operation that ends. */
async function endOne({ call }: TestService, externalId: string): Promise<void> {
  await ending(call, await submit(call, 'CLIENT_CREATE', clientData(externalId)))
}

const allDue = (db: Database) =>
  sql`update loanops.callback set next_try_at = now() where state = 'pending'`.execute(db)

const recorded = (db: Database, attempts: number) =>
  until(async () => {
    const { rows } = await sql`select from ops.callback_attempt`.execute(db)
    return rows.length >= attempts
  }, `${attempts} attempts are recorded`)

t.test('a retry has the same id and body, and a signature of its own', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(500).end('not today'))
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  receiver.respond(response => response.end())
  await allDue(service.db)
  const [first, second] = await receiver.attempts(2)
  t.equal(second?.id, first?.id)
  t.equal(second?.text, first?.text)
  t.same(receiver.refused, [])
  await recorded(service.db, 2)
  const { body } = await service.call('GET', `/api/callbacks/${first?.id}`)
  t.match(body, { state: 'delivered', last_status: 200, body: first?.body })
  matchEach(t, body.attempts, [
    { attempt: 1, http_status: 500, answer: 'not today', error: 'The receiver answered 500' },
    { attempt: 2, http_status: 200, answer: '', error: null },
  ])
})

t.test('a receiver that leaves its answer open took the callback, and gets the next', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(200).write('taken'))
  await endOne(service, 'C-1')
  await endOne(service, 'C-1')
  await recorded(service.db, 2)
  for (const { id } of receiver.received) {
    const { body } = await service.call('GET', `/api/callbacks/${id}`)
    t.match(body, { state: 'delivered', attempts: [{ http_status: 200, answer: 'taken' }] })
    const [{ started_at, ended_at }] = body.attempts
    t.ok(Date.parse(ended_at) - Date.parse(started_at) < 2_000, 'its answer is not waited for')
  }
})

t.test('a receiver that answers first and then does its work is not left at once', async t => {
  const { receiver, service } = await reporting(t)
  const { promise: left, resolve } = Promise.withResolvers<string>()
  const working = Promise.withResolvers<void>()
  receiver.respond(response => {
    response.once('close', () => resolve(response.writableFinished ? 'finished' : 'cut off'))
    response.writeHead(200).write('taken')
    working.promise.then(() => response.end())
  })
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  working.resolve()
  t.equal(await left, 'finished')
})

t.test('a callback waits for the one before it on its subject, and for no other', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond((response, { body }) =>
    response.writeHead(body.data.external_id === 'C-1' ? 503 : 200).end(),
  )
  await endOne(service, 'C-1')
  await endOne(service, 'C-1')
  await endOne(service, 'C-2')
  await recorded(service.db, 2)
  receiver.respond(response => response.end())
  await allDue(service.db)
  await receiver.attempts(4)
  t.same(
    receiver.received.map(({ body }) => [body.data.external_id, body.sequence]),
    [
      ['C-1', 1],
      ['C-2', 1],
      ['C-1', 1],
      ['C-1', 2],
    ],
  )
})

t.test('a receiver may answer with 200 KiB of headers', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(200, { 'x-debug': 'x'.repeat(200_000) }).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  const { body } = await service.call('GET', '/api/callbacks')
  matchEach(t, body.callbacks, [{ state: 'delivered', last_status: 200, last_error: null }])
})

t.test('a redirect is not followed: it is a failed attempt', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(307, { location: receiver.url }).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  t.equal(receiver.received.length, 1)
  const { body } = await service.call('GET', '/api/callbacks?state=pending')
  const last_error = /^The receiver answered 307: redirects are not followed/
  matchEach(t, body.callbacks, [{ last_status: 307, attempts: 1, last_error }])
})

t.test('410 stops all delivery, keeps new callbacks, and resume sends them', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(410).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  await endOne(service, 'C-2')
  await allDue(service.db)
  await until(async () => {
    const { body } = await service.call('GET', '/api/callbacks')
    return body.callbacks.length === 2
  })
  receiver.respond(response => response.end())
  t.equal(receiver.received.length, 1)
  t.equal((await service.call('POST', '/api/callbacks/resume')).status, 202)
  await receiver.attempts(3)
  t.same(receiver.received.map(({ body }) => body.data.external_id).sort(), ['C-1', 'C-1', 'C-2'])
})

t.test('a callback that fails after a 410 does not resume callbacks', async t => {
  const { receiver, service } = await reporting(t)
  const open: ServerResponse[] = []
  receiver.respond(response => open.push(response))
  await endOne(service, 'C-1')
  await endOne(service, 'C-2')
  await receiver.attempts(2)
  open[0]?.writeHead(410).end()
  await recorded(service.db, 1)
  open[1]?.writeHead(500).end()
  await recorded(service.db, 2)
  const { rows } = await sql`
    select from loanops.callback_receiver where stopped_at is not null`.execute(service.db)
  t.equal(rows.length, 1)
})

t.test(
  'a receiver that fails five times in a row is probed one call at a time, and keeps its schedule',
  async t => {
    const { receiver, service } = await reporting(t)
    let most = 0
    let open = 0
    receiver.respond(response => {
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        response.writeHead(500).end()
      })
    })
    for (let i = 0; i < 5; i++) await endOne(service, `C-${i}`)
    await recorded(service.db, 5)
    await until(() => isDown(service.db))
    most = 0
    for (let i = 5; i < 15; i++) await endOne(service, `C-${i}`)
    await sql`update loanops.callback_receiver set next_probe_at = now()`.execute(service.db)
    await recorded(service.db, 6)
    t.equal(receiver.received.length, 6)
    t.equal(most, 1)
    const { rows } = await sql<{ due: Date; retries: number }>`
      update loanops.callback set next_try_at = now() + interval '1 hour' where state = 'pending'
      returning next_try_at as due, retries`.execute(service.db)
    await sql`update loanops.callback_receiver set next_probe_at = now()`.execute(service.db)
    await recorded(service.db, 7)
    const after = await sql<{ retries: number; isLater: boolean }>`
      select retries, next_try_at > now() + interval '59 minutes' as "isLater"
       from loanops.callback`.execute(service.db)
    t.ok(after.rows.every(({ isLater }) => isLater))
    const sum = (list: { retries: number }[]) => list.reduce((all, one) => all + one.retries, 0)
    t.equal(sum(after.rows), sum(rows))
    receiver.respond(response => response.end())
    await sql`update loanops.callback_receiver set next_probe_at = now()`.execute(service.db)
    await allDue(service.db)
    await until(async () => {
      const { body } = await service.call('GET', '/api/callbacks?state=delivered')
      return body.callbacks.length === 15
    }, 'all are delivered')
  },
)

t.test('a callback whose retries are used up has failed, and replay sends it again', async t => {
  const { receiver, service } = await reporting(t)
  receiver.respond(response => response.writeHead(400).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  await sql`update loanops.callback set retries = 10, next_try_at = now()`.execute(service.db)
  const failed = await until(async () => {
    const { body } = await service.call('GET', '/api/callbacks?state=failed')
    return body.callbacks[0]
  })
  t.match(failed, { next_try_at: null, attempts: 2 })
  const ready = await (await fetch(`${service.url}/readyz`)).json()
  t.match(ready, { status: 'ready', callbacks: { failed: 1 } })
  receiver.respond(response => response.end())
  const window = { from: failed.created_at, to: failed.created_at }
  const count = await service.call('POST', '/api/callbacks/replay', { ...window, dry_run: true })
  t.match(count, { status: 202, body: { callbacks: 1 } })
  t.match(await service.call('POST', '/api/callbacks/replay', window), {
    status: 202,
    body: { callbacks: 1 },
  })
  await receiver.attempts(3)
  await until(
    async () => (await service.call('GET', '/api/callbacks?state=delivered')).body.callbacks[0],
  )
  const again = await service.call('POST', `/api/callbacks/${failed.callback_id}/resend`)
  t.match(again, { status: 202, body: { callback_id: failed.callback_id, state: 'pending' } })
  const received = await receiver.attempts(4)
  t.equal(new Set(received.map(({ id }) => id)).size, 1)
})

t.test('a callback that is resent goes before a later one that waits for its retry', async t => {
  const { receiver, service } = await reporting(t)
  await endOne(service, 'C-1')
  const [first] = await receiver.attempts(1)
  receiver.respond(response => response.writeHead(500).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 2)
  const postpone = sql`update loanops.callback set next_try_at = 'infinity' where sequence = 2`
  await postpone.execute(service.db)
  receiver.respond(response => response.end())
  await service.call('POST', `/api/callbacks/${first?.id}/resend`)
  await receiver.attempts(3)
  await recorded(service.db, 3)
  await allDue(service.db)
  const received = await receiver.attempts(4)
  t.same(
    received.map(({ body }) => body.sequence),
    [1, 2, 1, 2],
  )
})

t.test('a callback that no worker has prepared yet can be resent like any other', async t => {
  const receiver = await callbackReceiver(t)
  const { call, db } = await startTestService(t, { ...receiver.settings, ROLE: 'api' })
  await sql`update loanops.callback_receiver set types = '{operation.failed}'`.execute(db)
  const id = await submit(call, 'CLIENT_CREATE', clientData('C-1'))
  await call('POST', `/api/ledger/operations/${encodeURIComponent(id)}/cancel`)
  const [listed] = (await call('GET', '/api/callbacks')).body.callbacks
  t.match(await call('POST', `/api/callbacks/${listed.callback_id}/resend`), {
    status: 202,
    body: { state: 'pending', attempts: 0 },
  })
})

t.test('a delivery counts though the callback was resent while it was under way', async t => {
  const { receiver, service } = await reporting(t)
  const answers: (() => void)[] = []
  receiver.respond(response => {
    if (answers.push(() => response.end()) === 2) response.writeHead(500).end()
  })
  await endOne(service, 'C-1')
  const [first] = await receiver.attempts(1)
  const path = `/api/callbacks/${first?.id}`
  await service.call('POST', `${path}/resend`)
  await receiver.attempts(2)
  answers[0]?.()
  const delivered = await until(async () => {
    const { body } = await service.call('GET', path)
    return body.state === 'delivered' && body
  }, 'the callback is delivered')
  t.ok(delivered.attempts.some(({ http_status }: any) => http_status === 200))
})

t.test('an attempt that fails after a resend does not put it off', async t => {
  const { receiver, service } = await reporting(t)
  let fail = () => {}
  receiver.respond(response => {
    fail = () => response.writeHead(500).end()
  })
  await endOne(service, 'C-1')
  const [first] = await receiver.attempts(1)
  // Nothing is claimed meanwhile.
  await sql`update loanops.callback_receiver set stopped_at = now()`.execute(service.db)
  await service.call('POST', `/api/callbacks/${first?.id}/resend`)
  fail()
  await until(async () => {
    const { rows } = await sql`
      select from loanops.callback_receiver where failures > 0`.execute(service.db)
    return rows.length > 0
  }, 'the attempt has ended')
  const { rows } = await sql<{ retries: number; isDue: boolean }>`
    select retries, next_try_at <= now() as "isDue" from loanops.callback`.execute(service.db)
  t.same(rows, [{ retries: 0, isDue: true }])
})

t.test('the retry schedule has the documented times, with at most a fifth of jitter', async t => {
  const scheduled = [5_000, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS].concat(
    [2, 5, 10, 14, 20, 24].map(hours => hours * HOUR_MS),
  )
  t.same(
    scheduled.map((_, retries) => nextRetryMs(retries, 0, 0.5)),
    scheduled,
  )
  t.same([nextRetryMs(0, 0, 0), nextRetryMs(0, 0, 1)], [4_000, 6_000])
  t.equal(nextRetryMs(10), undefined)
})

t.test('Retry-After delays a retry where it is longer, by two hours at most', async t => {
  t.equal(nextRetryMs(0, after('60'), 0.5), 60_000)
  t.equal(nextRetryMs(1, after('3'), 0.5), MINUTE_MS)
  for (const long of ['99999', '9999999999', '9'.repeat(400)])
    t.equal(nextRetryMs(0, after(long), 0.5), 2 * HOUR_MS + 5_000, long)
  const now = Date.parse('2026-11-20T10:00:00Z')
  t.equal(after('Fri, 20 Nov 2026 10:00:30 GMT', now), 30_000)
  t.equal(after('soon', now), 0)
  for (const seconds of ['49.3', '0.5', '2030.1', '3600.5', '292.052427053'])
    t.equal(after(seconds, now), Number(seconds) * 1_000, seconds)
  for (const none of ['1.2.3', '-49.3', '49,3', '']) t.equal(after(none, now), 0, none)
})

t.test('a Retry-After that is a time counts by the clock of its sender', async t => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  const at = 'Fri, 20 Nov 2026 09:00:30 GMT'
  const by = (date: string) => retryAfterMs({ 'retry-after': at, date }, now)
  t.equal(by('Fri, 20 Nov 2026 09:00:00 GMT'), 30_000, 'its clock is behind ours')
  t.equal(by('Fri, 20 Nov 2026 11:00:00 GMT'), 0, 'a time that has passed')
  t.equal(by('today'), 0, 'an unreadable date: by our clock')
  t.equal(retryAfterMs({ 'retry-after': '30', date: at }, now), 30_000)
})

const after = (header: string, now?: number) => retryAfterMs({ 'retry-after': header }, now)

async function isDown(db: Database): Promise<boolean> {
  const { rows } = await sql`select from loanops.callback_receiver where failures >= 5`.execute(db)
  return rows.length === 1
}

t.test('a callback is shown with its last hundred attempts, however many it has', async t => {
  const { receiver, service } = await reporting(t)
  // Nothing more is sent meanwhile.
  receiver.respond(response => response.writeHead(410).end())
  await endOne(service, 'C-1')
  await recorded(service.db, 1)
  const [first] = receiver.received
  await sql`
    insert into loanops.callback_attempt (callback_id, attempt, started_at, ended_at, http_status, answer)
    select ${first?.id}, n, now(), now(), 410, repeat('x', 4096)
     from generate_series(2, 5000) n`.execute(service.db)
  await sql`update loanops.callback set attempts = 5000`.execute(service.db)
  const { body } = await service.call('GET', `/api/callbacks/${first?.id}`)
  t.same(
    body.attempts.map(({ attempt }: any) => attempt),
    Array.from({ length: 100 }, (_, n) => 4_901 + n),
  )
  const again = await service.call('POST', `/api/callbacks/${first?.id}/resend`)
  t.match(again.body, { attempts: 5000 })
})
