/** What an operation or a payment waits for, and what ends the wait. */
export const WAYS_OUT: Record<string, string> = {
  predecessor: 'An earlier operation on the same loan or client is unfinished. Look at that one.',
  client: 'An earlier operation on its client is unfinished. Look at that one.',
  paused:
    'Writes at the ledger are paused. Resume them on the overview, or wait for the end of the pause.',
  ledger_unavailable: 'The ledger does not answer. It goes on by itself.',
  ledger_busy: 'The ledger said “not now”. It goes on by itself.',
  ledger_credentials:
    'The ledger refuses our credentials, URL or tenant. Correct the setting; it is tried once a minute.',
  ledger_approval: 'A second person must approve it at the ledger. It is looked up once a minute.',
  outcome_unknown:
    'An attempt may have arrived, and the ledger has not confirmed it yet. It goes on by itself; or resolve it.',
  batch: 'The next batch posts it.',
  gateway: 'The gateway must confirm it. It is asked again by the next batch.',
}

export const RESOLVABLE = ['outcome_unknown', 'ledger_approval', 'ledger_credentials']
