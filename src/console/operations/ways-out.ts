import type { WAITING_REASONS } from '../../operations/reading/operation-filter.ts'

type Reason = (typeof WAITING_REASONS)[number] | 'batch' | 'gateway'

export const WAYS_OUT: Record<string, string> = {
  predecessor: 'An earlier operation on the same loan or client is unfinished. Look at that one.',
  client: 'An earlier operation on its client is unfinished. Look at that one.',
  paused:
    'Writes to the ledger are paused. Resume them on the overview, or wait for the pause to end.',
  ledger_unavailable: 'The ledger does not respond. The operation continues automatically.',
  ledger_busy: 'The ledger said “not now”. The operation continues automatically.',
  ledger_credentials:
    'LoanOps’s settings and the ledger do not fit. Correct what the last error names; it is retried once a minute.',
  ledger_approval: 'A second person must approve it in the ledger. It is looked up once a minute.',
  outcome_unknown:
    'An attempt may have arrived, but the ledger has not confirmed it yet. It is looked up again automatically; you can also resolve it.',
  batch: 'The next batch posts it.',
  gateway: 'The gateway must confirm it. The next batch asks again.',
} satisfies Record<Reason, string>
