import type { Test } from 'tap'
import { approvalOf, clientOf, type Los, loanOf, NAMED_TOKEN } from './los.ts'

const ITEM = [
  'tracking_id',
  'operation_type',
  'status',
  'success_response',
  'failure_response',
  'error_message',
  'processed_at',
  'external_id',
  'accepted_at',
  'attempts',
  'waiting_for',
  'next_try_at',
  'last_error',
  'error_code',
  'caller',
  'request_id',
]
const NOBODY = 'LOAN_CREATE|019a0000-0000-7000-8000-000000000000'
const of = (name: string) => encodeURIComponent(name)

/** Lists, single operations, and what an operator may do about them. */
export async function listing(t: Test, los: Los) {
  const { call } = los
  const pause = (body: object) => call('POST', '/api/ledger/pause', body)
  const past = await pause({ reason: 'x', until: '2020-01-01T00:00:00Z' })
  t.equal(past.status, 400, 'an until in the past is 400')
  const paused = await pause({ reason: 'month end', until: '2099-01-01T00:00:00+05:30' })
  t.match(paused, { status: 200, body: { paused: true, reason: 'month end' } }, 'a pause is 200')
  const replaced = await pause({ reason: 'maintenance' })
  t.same(
    Object.keys(replaced.body).sort(),
    ['paused', 'reason', 'since', 'until'],
    'pause answers {paused, reason, since, until}',
  )
  t.match(
    replaced.body,
    { reason: 'maintenance', until: null },
    'a second pause replaces the first',
  )
  await whatWaits(t, los)
  await whatIsCancelled(t, los)
  t.match(
    (await call('POST', '/api/ledger/resume')).body,
    { paused: false },
    'resume ends the pause',
  )
  const again = await call('POST', '/api/ledger/resume')
  t.equal(again.status, 200, 'resuming while not paused is 200')
  await whatEnds(t, los)
  await filters(t, los)
}

async function whatWaits(t: Test, los: Los) {
  const { call, submit, track, id } = los
  const [client, loan] = [id('C-listed'), id('L-listed')]
  const sent: string[] = []
  for (const [status, data] of [
    ['CLIENT_CREATE', clientOf(client)],
    ['CLIENT_UPDATE', { externalId: client, firstname: 'Usha' }],
    ['LOAN_CREATE', loanOf(loan, client)],
    ['LOAN_APPROVE', approvalOf(loan)],
  ] as const) {
    const token = { 'x-internal-token': NAMED_TOKEN }
    const { status: code, body } = await submit(status, data, token)
    t.equal(code, 202, 'while paused, intake continues')
    sent.push(body.tracking_id)
  }
  const [first, second, created] = sent as [string, string, string]
  for (const tracking_id of sent) {
    const processing = { tracking_id, status: 'processing' }
    t.same((await track(tracking_id)).body, processing, 'while processing: {tracking_id, status}')
  }
  for (const [tracking_id, predecessor] of [
    [first, null],
    [second, first],
    [created, second],
    [sent[3] as string, created],
  ] as const) {
    const { body } = await call('GET', `/api/ledger/operations/${of(tracking_id)}`)
    t.equal(body.predecessor, predecessor, 'an operation names the one that it waits for')
    t.equal(body.waiting_for, 'paused', 'waiting_for says why')
    t.match(body, { origin: 'api', caller: 'los', attempts: [] }, 'whose token it came with')
  }
  const { body } = await call('GET', `/api/ledger/operations?external_id=${of(client)}`)
  const [item] = body.operations
  for (const name of ITEM) t.ok(name in item, `an item has ${name}, null where it does not apply`)
  t.match(item, { tracking_id: second, status: 'processing', attempts: 0, processed_at: null })
}

async function whatIsCancelled(t: Test, los: Los) {
  const { call, submit, track, id } = los
  const { body } = await submit('CLIENT_CREATE', clientOf(id('C-cancelled')))
  const cancel = (tracking_id: string) =>
    call('POST', `/api/ledger/operations/${of(tracking_id)}/cancel`)
  t.equal((await cancel(body.tracking_id)).status, 202, 'cancel: 202 for what was never attempted')
  t.match(
    (await track(body.tracking_id)).body,
    {
      status: 'failed',
      failure_response: {
        httpStatusCode: '409',
        errors: [{ userMessageGlobalisationCode: 'loanops.cancelled' }],
      },
    },
    'a cancelled operation ends as failed with 409 loanops.cancelled',
  )
  t.equal((await cancel(body.tracking_id)).status, 409, '409 for a second cancel')
  const resolve = (path: string, more: object) =>
    call('POST', `/api/ledger/operations${path}/resolve`, { outcome: 'retry', ...more })
  const single = await resolve(`/${of(body.tracking_id)}`, {})
  t.equal(single.status, 409, 'resolve: 409 for what is not stuck')
  const several = await resolve('', { tracking_ids: [body.tracking_id, 'x', NOBODY] })
  t.same(
    several.body.results.map((one: any) => [one.tracking_id, one.status, one.code]),
    [
      [body.tracking_id, 409, 'CONFLICT'],
      ['x', 400, 'INVALID_TRACKING_ID'],
      [NOBODY, 404, 'UNKNOWN_TRACKING_ID'],
    ],
    'several are answered in one call, each as on its own',
  )
}

async function whatEnds(t: Test, los: Los) {
  const { call, run, id } = los
  const client = clientOf(id('C-listed-2'))
  const record = await run('CLIENT_CREATE', client)
  const { body } = await call('GET', `/api/ledger/operations/${of(record.tracking_id)}`)
  const { attempts, data, origin, predecessor, ...item } = body
  t.same([data, origin, predecessor], [client, 'api', null], 'a single operation has its data')
  t.match(
    attempts,
    [{ attempt: Number, times: 1, method: 'POST', http_status: 200, outcome: 'done' }],
    'and its attempts',
  )
  t.same(
    Object.keys(attempts[0]).sort(),
    ['attempt', 'ended_at', 'http_status', 'method', 'outcome', 'path', 'started_at', 'times'],
    'an attempt has exactly these members',
  )
  const query = `external_id=${of(client.externalId)}`
  const [listed] = (await call('GET', `/api/ledger/operations?${query}`)).body.operations
  t.same({ ...item, attempts: listed.attempts }, listed, 'the rest is the list’s item')
  t.match(listed, { ...record, caller: null }, 'which is the whole tracking record')
  for (const [tracking_id, ...refusal] of [
    [NOBODY, 404, 'UNKNOWN_TRACKING_ID'],
    ['LOAN_CREATE', 400, 'INVALID_TRACKING_ID'],
    ['%zz', 400, 'INVALID_TRACKING_ID'],
  ] as const) {
    const path = tracking_id.includes('%') ? tracking_id : of(tracking_id)
    const { status, body: problem } = await call('GET', `/api/ledger/operations/${path}`)
    t.same([status, problem.code], refusal, `no operation: ${tracking_id}`)
  }
  const failed = await run('LOAN_APPROVE', approvalOf(id('L-404')))
  const { body: known } = await call('GET', `/api/ledger/operations/${of(failed.tracking_id)}`)
  t.equal(
    known.error_code,
    failed.failure_response.errors[0].userMessageGlobalisationCode,
    'error_code is the ledger’s first userMessageGlobalisationCode',
  )
}

async function filters(t: Test, los: Los) {
  const { call, run, id } = los
  const list = (query: string) => call('GET', `/api/ledger/operations?${query}`)
  const [upper, lower] = [id('C-CASE'), id('C-case')]
  for (const name of [upper, lower])
    t.match(await run('CLIENT_CREATE', clientOf(name)), { status: 'success' }, 'case matters')
  for (const name of [upper, lower]) {
    const { body } = await list(`external_id=${of(name)}`)
    t.same(
      body.operations.map((one: any) => one.external_id),
      [name],
      'a filter finds the external id in its case',
    )
    const padded = await list(`external_id=${of(` ${name}\u200b`)}`)
    t.equal(padded.body.operations.length, 1, 'trimmed as in a body')
  }
  for (const [query, isSo] of [
    ['status=failed', (one: any) => one.status === 'failed'],
    ['status=success', (one: any) => one.status === 'success'],
    ['operation_type=LOAN_CREATE', (one: any) => one.operation_type === 'LOAN_CREATE'],
  ] as const) {
    const { operations } = (await list(query)).body
    t.ok(operations.length > 0 && operations.every(isSo), `filtered by ${query}`)
  }
  const seen: string[] = []
  for (let cursor = ''; seen.length < 5; ) {
    const { body } = await list(`limit=1${cursor}`)
    seen.push(body.operations[0].tracking_id)
    cursor = `&cursor=${of(body.next_cursor)}`
  }
  const { body } = await list('limit=5')
  t.same(
    body.operations.map((one: any) => one.tracking_id),
    seen,
    'next_cursor leads to the next page',
  )
  const all = await list('')
  t.same(
    Object.keys(all.body).sort(),
    ['next_cursor', 'operations'],
    'lists are {<plural>, next_cursor}',
  )
  t.ok(all.body.operations.length <= 50, 'limit is 50 by default')
  for (const query of ['limit=0', 'limit=201', 'cursor=x', 'status=done', 'stauts=failed']) {
    const { status, body } = await list(query)
    t.same([status, body.code], [400, 'INVALID_QUERY'], `an invalid query is 400: ${query}`)
  }
  const { body: broken } = await list('limit=1.5')
  t.match(broken.errors, [{ path: '/limit', message: 'must be a whole number from 1 to 200' }])
}
