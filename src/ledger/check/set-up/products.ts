import { ledgerPath } from '../../calls/path.ts'
import type { ScheduleType } from '../../loans/loan.ts'
import type { LoanProduct } from '../../loans/product.ts'
import { type Checked, type CheckedLender, type Found, foundUnread } from '../finding.ts'
import { type Reads, Unread } from '../reads.ts'

const PRODUCTS = ledgerPath(['loanproducts'])

/** A product as the list has it, which shows more than operations need. */
export type ListedProduct = LoanProduct & {
  status?: string
  isInterestRecalculationEnabled?: boolean
  loanScheduleType?: ScheduleType
  maxTrancheCount?: number
  allowApprovedDisbursedAmountsOverApplied?: boolean
  overAppliedCalculationType?: string
  overAppliedNumber?: number
}

/** @throws Unread */
export function productsIn(reads: Reads): Promise<ListedProduct[]> {
  return reads.list<ListedProduct>(PRODUCTS)
}

type OfProduct = (product: ListedProduct, lender: CheckedLender) => Promise<Omit<Found, 'lender'>>

/** One finding per lender and product that the ledger has. A missing product is the finding of `product`. */
export async function eachProduct({ reads, lenders }: Checked, check: OfProduct): Promise<Found[]> {
  const products = await productsIn(reads)
  const found: Found[] = []
  for (const lender of lenders) {
    const own = lender.products.flatMap(name => products.find(one => one.name === name) ?? [])
    const findings: Found[] = []
    for (const product of own) findings.push(await check(product, lender).catch(foundUnread))
    found.push({ ...worstOf(findings), lender: lender.code })
  }
  return found
}

/** A member that the answer must have: one that it leaves out says nothing. @throws Unread */
export function shown<Product, Name extends keyof Product & string>(product: Product, name: Name) {
  const { [name]: member } = product
  if (member === undefined) throw new Unread(`the product does not show its ${name}`)
  return member as Exclude<Product[Name], undefined>
}

/** A lender has one finding per check, whatever the number of its products. */
function worstOf(findings: Found[]): Found {
  if (findings.length === 0)
    return {
      state: 'unknown',
      found: 'the ledger lacks the product',
      remedy: 'Correct product first',
    }
  for (const state of ['breaks', 'differs', 'unknown'] as const) {
    const [first, ...rest] = findings.filter(one => one.state === state)
    if (first === undefined) continue
    const found = [first, ...rest].map(one => one.found).join('; ')
    return { ...first, found }
  }
  return { state: 'ok', found: findings.map(one => one.found).join('; ') }
}
