import { TOKEN } from '../service.ts'

export const STATEMENT_HEADER =
  'gateway_payment_id,amount,currency,status,captured_at,fee,tax,settlement_id,settled_at,utr'

/** @param path from the gateway's name on */
export async function uploadStatement(
  url: string,
  path: string,
  csv: string | Uint8Array<ArrayBuffer>,
  name?: string,
) {
  const form = new FormData()
  form.set('file', new Blob([csv]), name ?? 'statement.csv')
  const response = await fetch(`${url}/api/gateways/${path}`, {
    method: 'POST',
    body: form,
    headers: { 'x-internal-token': TOKEN },
  })
  return { status: response.status, body: (await response.json()) as any }
}
