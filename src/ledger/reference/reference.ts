import type { Config } from '../../config/config.ts'
import { oneAtATime } from '../../queue/one-at-a-time.ts'
import { misconfigured } from '../answers/misconfigured.ts'
import { inOneSentence, noPaymentType, noProduct } from '../answers/remedy.ts'
import type { Ledger } from '../calls/client.ts'
import { ofNumber } from '../calls/of-asked.ts'
import { type LedgerPath, ledgerPath } from '../calls/path.ts'
import type { LoanProduct, ProductWithTerms } from '../loans/product.ts'
import { CORRECTED_WITHIN_MS, cached } from './cached.ts'
import { openCalendar } from './calendar.ts'

type PaymentType = { id: number; name: string }
const PAYMENT_TYPES = ledgerPath(['paymenttypes'])
const PRODUCTS = ledgerPath(['loanproducts'])

export type ReferenceData = ReturnType<typeof openReference>

/** No list is used longer, counted from when its read began: a product may have been replaced by another of its name. */
const CACHED_MS = 60_000
/** After this time a newer list is read, so that under load no operation waits for it. */
const READ_AGAIN_MS = 30_000

/** The ledger's lists cannot be queried by name and rarely change, so each is read as a whole and cached. */
export function openReference(
  ledger: Ledger,
  settings: Pick<Config, 'LEDGER_OFFICE_ID' | 'LEDGER_PAYMENT_TYPE' | 'LEDGER_TIMEZONE'>,
) {
  const products = cachedList<LoanProduct>(ledger, PRODUCTS)
  const paymentTypes = cachedList<PaymentType>(ledger, PAYMENT_TYPES)
  const paymentType = () => paymentTypes(settings.LEDGER_PAYMENT_TYPE)
  return {
    ...openCalendar(ledger, settings),
    officeId: settings.LEDGER_OFFICE_ID,
    findProduct: products,
    /** @throws LedgerTrouble if the ledger lacks it */
    async product(name: string, lender: string): Promise<LoanProduct> {
      const found = await products(name)
      if (found === undefined) throw misconfigured(PRODUCTS, inOneSentence(noProduct(name, lender)))
      return found
    },
    /** The product with the terms that it prescribes, as of the last seconds. @throws LedgerTrouble if the ledger lacks it */
    productWithTerms: openProducts(ledger),
    hasPaymentType: async () => (await paymentType()) !== undefined,
    /** The payment type, without which Fineract drops the receipt number. @throws LedgerTrouble if the ledger lacks it */
    async paymentTypeId(): Promise<number> {
      const found = await paymentType()
      if (found === undefined)
        throw misconfigured(
          PAYMENT_TYPES,
          inOneSentence(noPaymentType(settings.LEDGER_PAYMENT_TYPE)),
        )
      return found.id
    },
  }
}

/** Cached only briefly, because a wrong charge of the product may be what operations wait for. */
function openProducts(ledger: Ledger) {
  return cached(CORRECTED_WITHIN_MS, async (id: number): Promise<ProductWithTerms> => {
    const path = ledgerPath(['loanproducts', id])
    const answer = await ofNumber(id, ledger.read<ProductWithTerms>(path))
    if (answer.outcome === 'done') return answer.body
    throw misconfigured(path, `the ledger has no loan product ${id}: ${answer.message}`)
  })
}

/** A name that is not in the list causes a new read. */
function cachedList<T extends { name: string }>(ledger: Ledger, path: LedgerPath) {
  let known = { list: new Map<string, T>(), readAt: Number.NEGATIVE_INFINITY }
  // If it fails, the list stays as it was, and the next caller tries again.
  const read = oneAtATime(async () => {
    const readAt = performance.now()
    const { body } = await ledger.read(path)
    known = { list: new Map((body as T[]).map(one => [one.name, one])), readAt }
  })

  return async (name: string): Promise<T | undefined> => {
    if (isOlderThan(known.list.has(name) ? CACHED_MS : CORRECTED_WITHIN_MS)) await read()
    else if (isOlderThan(READ_AGAIN_MS)) read().catch(() => undefined)
    return known.list.get(name)
  }

  function isOlderThan(ms: number): boolean {
    return performance.now() - known.readAt > ms
  }
}
