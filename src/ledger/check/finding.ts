import type { Config } from '../../config/config.ts'
import type { Lender } from '../../config/lenders.ts'
import type { LedgerSettings } from '../calls/send.ts'
import { type Reads, Unread } from './reads.ts'

/** `differs`: operations work, but perhaps not as intended. `unknown`: it could not be read. */
export const FINDING_STATES = ['ok', 'differs', 'breaks', 'unknown'] as const

export type Finding = {
  check: string
  /** The lender; null for what concerns all. */
  lender: string | null
  state: (typeof FINDING_STATES)[number]
  found: string
  expected: string
  /** The remedy; null if there is nothing to do. */
  remedy: string | null
}

export type Found = Pick<Finding, 'state' | 'found'> & { lender?: string; remedy?: string }

export type CheckedLender = Pick<Lender, 'code' | 'products' | 'terms'>

export type Checked = { reads: Reads; settings: CheckedSettings; lenders: CheckedLender[] }

export type CheckedSettings = LedgerSettings &
  Pick<Config, 'LEDGER_OFFICE_ID' | 'LEDGER_PAYMENT_TYPE' | 'LEDGER_TIMEZONE'>

export type Check = {
  check: string
  expects: string
  /** @throws Unread if what it needs could not be read */
  run(checked: Checked): Promise<Found | Found[]>
}

/** @throws every error but Unread */
export function foundUnread(error: unknown): Found {
  if (!(error instanceof Unread)) throw error
  const { message, remedy } = error
  return { state: 'unknown', found: `could not be read: ${message}`, remedy }
}
