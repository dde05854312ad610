import { upload } from '../http/upload.ts'

export const STATEMENT_HEADER =
  'gateway_payment_id,amount,currency,status,captured_at,fee,tax,settlement_id,settled_at,utr'

/** @param path from the gateway's name on */
export async function uploadStatement(
  url: string,
  path: string,
  csv: string | Uint8Array<ArrayBuffer>,
  name = 'statement.csv',
) {
  return upload(`${url}/api/gateways/${path}`, { name, content: csv })
}
