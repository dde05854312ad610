import { hash } from 'node:crypto'

/** No two transfers have the same number. */
export const bankReference = (paymentId: string): string =>
  `5${String(Number.parseInt(hash('sha256', paymentId).slice(0, 9), 16)).padStart(11, '0')}`
