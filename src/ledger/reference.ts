import type { Config } from '../config.ts'
import { type Answer, LedgerTrouble } from './answer.ts'
import type { Ledger } from './client.ts'
import type { LedgerCurrency } from './loan.ts'

type Option = { id: number }
export type LoanProduct = {
  id: number
  name: string
  currency: LedgerCurrency
  interestType: Option
  interestCalculationPeriodType: Option
  amortizationType: Option
  transactionProcessingStrategyCode: string
}
type PaymentType = { id: number; name: string }
const PAYMENT_TYPES = '/paymenttypes'

/** The ledger's slowly changing lists. Neither can be asked for by name, so each is read whole and kept. */
export type Reference = {
  officeId: number
  product(name: string): Promise<LoanProduct | undefined>
  /**
   * The payment type under which Fineract keeps a receipt number; without one it drops the number.
   * @throws LedgerTrouble where the ledger does not have it: that is a setting of ours, and nobody's payment's fault
   */
  paymentTypeId(): Promise<number>
}

/** A changed product is seen after this; a name that is not in the list is looked for anew at once. */
const KEPT_MS = 5 * 60_000
/** But not more often than this, so that a wrong lender does not read the whole list with each operation. */
const ANEW_MS = 5_000

export function openReference(
  ledger: Ledger,
  settings: Pick<Config, 'LEDGER_OFFICE_ID' | 'LEDGER_PAYMENT_TYPE'>,
): Reference {
  const products = keptList<LoanProduct>(ledger, '/loanproducts')
  const paymentTypes = keptList<PaymentType>(ledger, PAYMENT_TYPES)
  return {
    officeId: settings.LEDGER_OFFICE_ID,
    product: products,
    async paymentTypeId() {
      const name = settings.LEDGER_PAYMENT_TYPE
      const found = await paymentTypes(name)
      if (found === undefined)
        throw new LedgerTrouble(lacks(`payment type ${name} (LEDGER_PAYMENT_TYPE)`))
      return found.id
    },
  }
}

function lacks(what: string): Answer {
  return {
    method: 'GET',
    path: PAYMENT_TYPES,
    status: 200,
    body: null,
    outcome: 'misconfigured',
    code: null,
    message: `the ledger has no ${what}`,
    isRecorded: false,
    isFromStore: false,
    leftNothing: true,
  }
}

/** A list that is asked for by name. Once there, it answers for what it has without waiting for a newer one. */
function keptList<T extends { name: string }>(ledger: Ledger, path: string) {
  let kept = { list: new Map<string, T>(), readAt: Number.NEGATIVE_INFINITY }
  let reading: Promise<void> | undefined

  return async (name: string): Promise<T | undefined> => {
    if (isOlderThan(kept.list.has(name) ? KEPT_MS : ANEW_MS)) {
      const newer = read()
      if (kept.list.has(name)) newer.catch(() => undefined)
      else await newer
    }
    return kept.list.get(name)
  }

  function isOlderThan(ms: number): boolean {
    return Date.now() - kept.readAt > ms
  }

  /** One at a time. What fails leaves the list as it was, for the next who asks to try again. */
  function read(): Promise<void> {
    const readAt = Date.now()
    reading ??= ledger
      .read(path)
      .then(({ body }) => {
        kept = { list: new Map((body as T[]).map(one => [one.name, one])), readAt }
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}
