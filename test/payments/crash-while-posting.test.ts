import t from 'tap'
import { dieAt } from '../support/die-at.ts'

t.test(
  'a worker that dies between core and the ledger leaves nothing undone and nothing done twice',
  t => dieAt(t, ['batch.claimed', 'batch.posting', 'posting.recorded', 'batch.unended']),
)
