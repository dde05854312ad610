import t from 'tap'
import { dieAt } from '../support/die-at.ts'

t.test(
  'a worker that dies between the queue and core leaves nothing undone and nothing done twice',
  t => dieAt(t, ['events.saved', 'batch.claimed', 'batch.registered', 'batch.transformed']),
)
