import type { Paise } from '../money.ts'

export type Due = {
  number: number
  from: string
  due: string
  principal: Paise
  interest: Paise
  fees: Paise
  balance: Paise
}
