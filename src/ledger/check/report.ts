import type { Finding } from './finding.ts'

type LedgerCheck = {
  /** The time of the last check; null before the first one. */
  checked_at: string | null
  /** The ledger's version; null if the ledger states none. */
  version: string | null
  findings: Finding[]
}

export function reportOf(findings: Finding[], checkedAt: Date | null): LedgerCheck {
  const version = findings.find(({ check, state }) => check === 'version' && state === 'ok')
  return { checked_at: checkedAt?.toISOString() ?? null, version: version?.found ?? null, findings }
}
