import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { startSandbox } from '../../src/sandbox/server.ts'
import {
  type LedgerAddress,
  replay,
  type Transcript,
} from '../support/ledger/ledger-transcripts.ts'
import { testLedger } from '../support/ledger/test-ledger.ts'

// What the sandbox does not support (it answers 501), and why.
const NOT_SUPPORTED: Record<string, { reason: string; steps: number[] }> = {
  'repayments/written-off': { reason: 'LoanOps posts no recoveries', steps: [11] },
  'repayments/credit-balance-refund': {
    reason: 'LoanOps pays no excess back',
    steps: [8, 9, 10, 11, 12],
  },
}

// LoanOps sends no batches.
const AREAS_NOT_SUPPORTED = new Set(['batch.json'])

async function openLedger(): Promise<LedgerAddress> {
  if (testLedger) return testLedger
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  return sandbox
}

const folder = new URL('../transcripts/', import.meta.url)
const ledger = await openLedger()

for (const file of readdirSync(folder).sort()) {
  if (!testLedger && AREAS_NOT_SUPPORTED.has(file)) continue
  const { transcripts } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
    transcripts: Transcript[]
  }
  t.test(`the ledger answers as recorded in ${file}`, async t => {
    for (const transcript of transcripts) {
      const differences = await replay(ledger, transcript)
      const unsupported = testLedger ? [] : (NOT_SUPPORTED[transcript.name]?.steps ?? [])
      const differing = differences.flatMap((found, i) => (found.length > 0 ? [i + 1] : []))
      const unexpected = differences.filter((_, i) => !unsupported.includes(i + 1)).flat()
      t.strictSame(unexpected, [], `${transcript.name} agrees`)
      if (unsupported.length > 0) {
        t.strictSame(
          differing,
          unsupported,
          `${transcript.name} differs where the sandbox does not support it`,
        )
      }
    }
  })
}
