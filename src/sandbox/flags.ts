/** What a ledger may be like beside a fresh one that is set up for LoanOps: each name with an example of its value. */
const FLAGS: Record<string, string | null> = {
  'no-payment-type': null,
  'no-product': 'LENDER_03',
  office: 'branch',
  timezone: 'UTC',
  'business-date': '2025-01-01',
  'maker-checker': 'DISBURSE_LOAN',
  'pending-409': null,
  'block-closed': null,
  'over-applied': 'LENDER_02',
  'over-disbursal': 'disburse.amount.must.be.less.than.approved.principal',
  recalculation: 'LENDER_02',
  charges: 'LENDER_02',
  'no-permission': 'ACTIVATE_CLIENT',
  decimals: '0',
  'lost-external-ids': null,
}

/** The flags by name, each with the values with which it was given. */
export type SandboxFlags = ReadonlyMap<string, string[]>

export function sandboxFlags(given: string[]): SandboxFlags {
  const flags = new Map<string, string[]>()
  for (const flag of given) {
    const [name = '', ...rest] = flag.split('=')
    const example = FLAGS[name]
    const value = rest.join('=')
    if (example === undefined || (value === '') !== (example === null)) throw unknownFlag(flag)
    flags.set(name, [...(flags.get(name) ?? []), value])
  }
  return flags
}

function unknownFlag(flag: string): Error {
  const known = Object.entries(FLAGS).map(([name, value]) =>
    value === null ? name : `${name}=${value}`,
  )
  return new Error(`--flag ${flag} is none of: ${known.join(', ')}`)
}
