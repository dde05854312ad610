import type { Paise } from '../money.ts'

/** A fixed amount, due on a day that the loan specifies. */
export type Charge = {
  id: number
  name: string
  amount: Paise
}
