import type { Check } from '../finding.ts'

export const idempotency: Check = {
  check: 'idempotency',
  expects: 'the ledger takes its idempotency keys from the header Idempotency-Key',
  run: async () => ({
    state: 'unknown',
    found: 'no read shows it',
    remedy:
      'Run npm run check-ledger -- --write --tenant with the tenant, or make sure that FINERACT_IDEMPOTENCY_KEY_HEADER_NAME is unset at the ledger, or set to Idempotency-Key',
  }),
}
