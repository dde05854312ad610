import pg from 'pg'
import t from 'tap'
import type { Config } from '../../../src/config/config.ts'
import { openPassedOn } from '../../../src/engine/attempt/passed-on.ts'
import { runAttempt } from '../../../src/engine/attempt/run-attempt.ts'
import type { AttemptContext } from '../../../src/engine/attempt/running-attempt.ts'
import type { Claim } from '../../../src/engine/claim/claim.ts'
import type { Operation } from '../../../src/engine/operation.ts'
import { logger } from '../../../src/log/log.ts'
import { openTraces } from '../../../src/ops/traces/open-traces.ts'

t.test('an operator’s "failed" is not dropped or believed while the database is lost', async t => {
  const log = logger('silent')
  const traces = await openTraces({} as Config, log)
  const lost = Object.assign(new pg.DatabaseError('terminating connection', 0, 'error'), {
    code: '57P01',
  })
  const claim = { id: 'x', number: 2, lookFirst: true, resolution: 'failed' } as Claim
  const operation = { find: () => Promise.reject(lost) } as unknown as Operation
  const context = { log, traces, ledger: {} } as unknown as AttemptContext
  const { decision } = await runAttempt(context, operation, claim, openPassedOn())
  t.match(decision, { status: 'processing', lookFirst: true, keepsResolution: true })
})

t.test('our own error is logged, although an operator’s "failed" ends the operation', async t => {
  const lines: object[] = []
  const log = { error: (line: object) => lines.push(line) }
  const traces = await openTraces({} as Config, logger('silent'))
  const broken = new TypeError('seen is undefined')
  const claim = { id: 'x', number: 2, lookFirst: true, resolution: 'failed' } as Claim
  const operation = { find: () => Promise.reject(broken) } as unknown as Operation
  const context = { log, traces, ledger: {} } as unknown as AttemptContext
  const { decision } = await runAttempt(context, operation, claim, openPassedOn())
  t.match(decision, { status: 'failed' })
  t.same(lines, [{ err: broken, operation: 'x' }])
})
