import { SINGLE_PERMISSIONS } from '../access/permissions.ts'
import { type Administrator, superUser } from '../access/user.ts'
import type { SandboxFlags } from '../flags.ts'
import { below, HEAD_OFFICE_ID, type Office } from '../reference/office.ts'
import type { Product } from '../reference/product.ts'
import { Books } from './books.ts'

/** The books of a ledger with these flags before anybody has written to it. */
export function firstBooks(administrator: Administrator, flags: SandboxFlags): Books {
  const books = new Books()
  const officeId = flags.has('office') ? givenBranch(books) : HEAD_OFFICE_ID
  books.define('users', { ...superUser(administrator), officeId })
  withholdPermissions(books, flags.get('no-permission') ?? [])
  if (flags.has('no-payment-type')) remove(books.defined.paymentTypes, 'LoanOps')
  for (const name of flags.get('no-product') ?? []) remove(books.defined.products, name)
  const change = (flag: string, changes: (product: Product) => Partial<Product>) => {
    for (const name of flags.get(flag) ?? []) {
      const product = [...books.defined.products.values()].find(one => one.name === name)
      if (product) books.define('products', { ...product, ...changes(product) })
    }
  }
  change('over-applied', () => ({ overApplied: { calculation: 'percentage', number: 50 } }))
  change('recalculation', () => ({
    recalculation: { compounding: 0, strategy: 3, rest: 1, preClosure: 1 },
  }))
  change('charges', ({ own }) => ({
    own: { ...own, graceOnPrincipalPayment: 2 },
    chargeIds: [givenCharge(books, 'At disbursement', 1, 500), givenCharge(books, 'Fee', 8, 50)],
  }))
  for (const places of flags.get('decimals') ?? []) setDecimals(books, Number(places))
  return books
}

/** Adds a branch, and a client of the head office, whom a user of the branch does not see. */
function givenBranch(books: Books): number {
  const head = books.defined.offices.get(HEAD_OFFICE_ID) as Office
  const id = books.nextId('office')
  books.define('offices', below(head, { id, name: 'Branch', openingDate: head.openingDate }))
  books.saveClient({
    id: books.nextId('client'),
    officeId: HEAD_OFFICE_ID,
    externalId: 'HEAD-1',
    firstname: 'Head',
    lastname: 'Office',
    legalFormId: 1,
    active: true,
    submittedOn: head.openingDate,
    activatedOn: head.openingDate,
  })
  return id
}

function withholdPermissions(books: Books, withheld: string[]): void {
  const role = books.defined.roles.get(1)
  if (role === undefined || withheld.length === 0) return
  const permissions = SINGLE_PERMISSIONS.filter(permission => !withheld.includes(permission))
  books.define('roles', { ...role, permissions })
}

function givenCharge(books: Books, name: string, time: number, amount: number): number {
  const id = books.nextId('charge')
  const kind = { active: true, penalty: false, currencyCode: 'INR', appliesTo: 1 }
  const facts = { amount: String(amount), time, calculation: 1, paymentMode: 0 }
  books.define('charges', { id, name, ...kind, ...facts })
  return id
}

function setDecimals(books: Books, decimalPlaces: number): void {
  for (const product of books.defined.products.values())
    books.define('products', { ...product, rounding: { decimalPlaces, inMultiplesOf: 0 } })
}

function remove(definitions: Map<number, { id: number; name: string }>, name: string): void {
  for (const one of definitions.values()) if (one.name === name) definitions.delete(one.id)
}
