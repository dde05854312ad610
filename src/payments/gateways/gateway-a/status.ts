import type { ApiPayment } from '../gateway-api.ts'

const STATUSES: Record<string, ApiPayment['status']> = {
  created: 'pending',
  pending: 'pending',
  authorized: 'pending',
  captured: 'captured',
  // A payment that was refunded in full was captured before, so the money did come.
  refunded: 'refunded',
  failed: 'failed',
}

type Beside = { captured?: string | undefined; method?: string | undefined }

/** Undefined for an unknown status. */
export function statusOf(
  status: string,
  { captured = '', method = '' }: Beside = {},
): ApiPayment['status'] | undefined {
  // Somebody else collects cash on delivery.
  if (['cod', 'cash_on_delivery'].includes(method)) return 'pending'
  // A payment that was only authorized can be refunded too. As in a webhook, its flag then shows that it was never captured.
  const wasNeverCaptured = ['0', 'false', 'no'].includes(captured.toLowerCase())
  return status === 'refunded' && wasNeverCaptured ? 'failed' : STATUSES[status]
}
