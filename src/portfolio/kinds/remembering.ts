import type { Ledger, Reading } from '../../ledger/calls/client.ts'
import type { LedgerPath } from '../../ledger/calls/path.ts'

/** A ledger for one look, whose steps or rows need the same client and loan: nothing is read twice. */
export function remembering(ledger: Ledger): Ledger {
  const readings = new Map<LedgerPath, Promise<Reading<unknown>>>()
  return {
    ...ledger,
    read<Body>(path: LedgerPath) {
      const reading = readings.get(path) ?? ledger.read(path)
      readings.set(path, reading)
      return reading as Promise<Reading<Body>>
    },
  }
}
