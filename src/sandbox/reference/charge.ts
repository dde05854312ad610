import type { Paise } from '../money.ts'

/** What a loan may be charged: a fixed amount on a day that the loan names. */
export type Charge = {
  id: number
  name: string
  amount: Paise
}
