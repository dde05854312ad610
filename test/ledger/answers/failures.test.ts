import t from 'tap'
import type { Answer } from '../../../src/ledger/answers/answer.ts'
import { openFailures } from '../../../src/ledger/answers/failures.ts'

const FORGOTTEN_AFTER_MS = 120_000
const failed: Answer = {
  method: 'POST',
  path: '/clients',
  status: 500,
  body: null,
  outcome: 'unknown',
  code: null,
  message: 'an answer 500',
  isRecorded: false,
  isFromStore: false,
  leftNothing: false,
}

/** @returns what has failed so far, and a clock that can be moved forward */
function failing(subjects: string[]) {
  let now = 0
  const failures = openFailures(() => now)
  for (const subject of subjects) failures.note(subject, failed)
  return {
    failures,
    pass(ms: number) {
      now += ms
    },
  }
}

t.test('an outage is over once nothing has failed for two minutes, as nothing waits', async t => {
  const { failures, pass } = failing(['1', '2', '3', '4', '5'])
  t.ok(failures.isOutage())
  pass(FORGOTTEN_AFTER_MS - 1)
  failures.note('1', failed)
  pass(FORGOTTEN_AFTER_MS - 1)
  t.ok(failures.isOutage())
  pass(1)
  t.notOk(failures.isOutage())
  failures.note('1', failed)
  t.notOk(failures.isOutage(), 'earlier failures no longer count')
})

t.test('a refusal that the ledger only passes on from its database is a failure', async t => {
  const { failures } = failing([])
  const body = { userMessageGlobalisationCode: 'error.msg.data.integrity.issue' }
  for (const subject of ['1', '2', '3', '4', '5'])
    failures.note(subject, { ...failed, status: 403, body, isRecorded: true })
  t.ok(failures.isOutage())
})

t.test('failures that are two minutes apart are not an outage', async t => {
  const { failures, pass } = failing([])
  for (const subject of ['1', '2', '3', '4', '5', '6']) {
    failures.note(subject, failed)
    pass(FORGOTTEN_AFTER_MS)
  }
  t.notOk(failures.isOutage())
})

t.test('subjects that fail while others do not are no outage when they fail again', async t => {
  const many = Array.from({ length: 20 }, (_, n) => String(n))
  const { failures } = failing(many)
  t.ok(failures.isOutage(), 'nothing has succeeded yet')
  failures.note('another', { ...failed, status: 200, outcome: 'done' })
  for (const subject of many) failures.note(subject, failed)
  t.notOk(failures.isOutage())
  for (const subject of ['a', 'b', 'c', 'd', 'e']) failures.note(subject, failed)
  t.ok(failures.isOutage(), 'others fail too')
})

t.test('a subject that has succeeded counts again when it fails', async t => {
  const subjects = ['1', '2', '3', '4', '5']
  const { failures } = failing(subjects)
  for (const subject of subjects)
    failures.note(subject, { ...failed, status: 200, outcome: 'done' })
  for (const subject of subjects) failures.note(subject, failed)
  t.ok(failures.isOutage())
})

t.test('subjects that failed by themselves count again if nothing succeeds for long', async t => {
  const many = Array.from({ length: 20 }, (_, n) => String(n))
  const { failures, pass } = failing(many)
  failures.note('another', { ...failed, status: 200, outcome: 'done' })
  pass(FORGOTTEN_AFTER_MS - 1)
  for (const subject of many) failures.note(subject, failed)
  t.notOk(failures.isOutage())
  pass(1)
  for (const subject of many) failures.note(subject, failed)
  t.ok(failures.isOutage(), 'the ledger went down meanwhile')
})
