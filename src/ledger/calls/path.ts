import { invalidField } from '../../http/problem.ts'

declare const built: unique symbol
/** Only `ledgerPath` builds a path, so that no text from outside leads anywhere else at the ledger. */
export type LedgerPath = string & { readonly [built]: true }

/** Servers and proxies resolve these segments, encoded or not. */
const STEPS = ['', '.', '..']

/** A path below LEDGER_URL; each segment is a single step, whatever it contains. */
export function ledgerPath(segments: (string | number)[], query: Record<string, string> = {}) {
  const search = new URLSearchParams(query).toString()
  const path = segments.map(segment => `/${encoded(String(segment))}`).join('')
  return `${path}${search === '' ? '' : `?${search}`}` as LedgerPath
}

function encoded(segment: string): string {
  if (STEPS.includes(segment) || !segment.isWellFormed())
    throw invalidField('', `${JSON.stringify(segment)} cannot be an id at the ledger`)
  return encodeURIComponent(segment)
}
