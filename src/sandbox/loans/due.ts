import type { Paise } from '../money.ts'

/** One instalment as it falls due. */
export type Due = {
  number: number
  from: string
  due: string
  principal: Paise
  interest: Paise
  fees: Paise
  balance: Paise
}
