import { capitalised } from '../../../text/capitalised.ts'
import { noPaymentType } from '../../answers/remedy.ts'
import type { Check } from '../finding.ts'
import { PAYMENT_TYPES } from '../reads.ts'

export const paymentType: Check = {
  check: 'payment_type',
  expects: 'the ledger has a payment type named LEDGER_PAYMENT_TYPE',
  async run({ reads, settings: { LEDGER_PAYMENT_TYPE: name } }) {
    const types = await reads.list<{ name: string }>(PAYMENT_TYPES)
    if (types.some(type => type.name === name)) return { state: 'ok', found: name }
    const names = types.map(type => type.name).join(', ')
    const { found, remedy } = noPaymentType(name)
    return {
      state: 'breaks',
      found: `${found}; it has ${names || 'none'}`,
      remedy: capitalised(remedy),
    }
  },
}
