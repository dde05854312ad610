import type { Check } from './finding.ts'
import { PAYMENT_TYPES } from './reads.ts'

export const paymentType: Check = {
  check: 'payment_type',
  expects: 'the ledger has a payment type of the name LEDGER_PAYMENT_TYPE',
  async run({ reads, settings: { LEDGER_PAYMENT_TYPE: name } }) {
    const types = await reads.list<{ name: string }>(PAYMENT_TYPES)
    if (types.some(type => type.name === name)) return { state: 'ok', found: name }
    const names = types.map(type => type.name).join(', ')
    return {
      state: 'breaks',
      found: `the ledger has no payment type ${name}; it has ${names || 'none'}`,
      remedy: `Create the payment type ${name} at the ledger, or set LEDGER_PAYMENT_TYPE`,
    }
  },
}
