import { firstRoles, type Role, type User } from '../access/user.ts'
import type { Client } from '../clients/client.ts'
import type { Loan } from '../loans/loan.ts'
import type { Charge } from '../reference/charge.ts'
import { firstOffices, HEAD_OFFICE_ID, type Office } from '../reference/office.ts'
import { firstPaymentTypes, type PaymentType } from '../reference/payment-type.ts'
import { firstProducts, type Product } from '../reference/product.ts'
import { type Account, allocate, applyOther, openAccount } from '../transactions/account.ts'
import type { Transaction } from '../transactions/transaction.ts'

type Kind =
  | 'client'
  | 'loan'
  | 'transaction'
  | 'paymentType'
  | 'charge'
  | 'loanCharge'
  | 'note'
  | 'office'
  | 'role'
  | 'user'
  | 'product'

type Definitions = {
  paymentTypes: PaymentType
  charges: Charge
  offices: Office
  roles: Role
  users: User
  products: Product
}

/** What one write changed. It is one line of the journal, so it is applied in full or not at all. */
export type Changes = {
  ids?: Partial<Record<Kind, number>>
  clients?: Client[]
  loans?: Loan[]
  removedLoans?: number[]
  transactions?: Transaction[]
} & { [Name in keyof Definitions]?: Definitions[Name][] }

const DEFINITIONS = ['paymentTypes', 'charges', 'offices', 'roles', 'users', 'products'] as const

/** Enough for the loans that a test works on at a time; others are computed again when read. */
const MAX_ACCOUNTS = 50_000

export class Books {
  readonly clients = new Map<number, Client>()
  readonly clientByExternalId = new Map<string, number>()
  readonly clientByMobileNo = new Map<string, number>()
  readonly loans = new Map<number, Loan>()
  readonly loanByExternalId = new Map<string, number>()
  readonly loansOfClient = new Map<number, Set<number>>()
  readonly transactions = new Map<number, Transaction>()
  readonly transactionByExternalId = new Map<string, number>()
  readonly reversalExternalIds = new Set<string>()
  readonly defined: { [Name in keyof Definitions]: Map<number, Definitions[Name]> } = {
    paymentTypes: byId(firstPaymentTypes),
    charges: new Map(),
    offices: byId(firstOffices),
    roles: byId(firstRoles),
    users: new Map(),
    products: byId(firstProducts),
  }
  readonly #transactionsOfLoan = new Map<number, Map<number, Transaction>>()
  readonly #accounts = new Map<number, Account>()
  readonly #ids: Partial<Record<Kind, number>> = {
    paymentType: firstPaymentTypes.length,
    office: firstOffices.length,
    role: firstRoles.length,
    user: 1,
    product: firstProducts.length,
  }
  #changes: Changes = {}

  nextId(kind: Kind): number {
    const id = (this.#ids[kind] ?? 0) + 1
    this.#ids[kind] = id
    this.#changes.ids = { ...this.#changes.ids, [kind]: id }
    return id
  }

  saveClient(client: Client): void {
    const before = this.clients.get(client.id)
    reindex(this.clientByExternalId, before?.externalId, client.externalId, client.id)
    reindex(this.clientByMobileNo, before?.mobileNo, client.mobileNo, client.id)
    this.clients.set(client.id, client)
    this.#changes.clients = [...(this.#changes.clients ?? []), client]
  }

  saveLoan(loan: Loan): void {
    const before = this.loans.get(loan.id)
    reindex(this.loanByExternalId, before?.externalId, loan.externalId, loan.id)
    if (before) this.loansOfClient.get(before.clientId)?.delete(loan.id)
    const ofClient = this.loansOfClient.get(loan.clientId)
    if (ofClient) ofClient.add(loan.id)
    else this.loansOfClient.set(loan.clientId, new Set([loan.id]))
    this.loans.set(loan.id, loan)
    if (before?.scheduled !== loan.scheduled) this.#accounts.delete(loan.id)
    this.#changes.loans = [...(this.#changes.loans ?? []), loan]
  }

  removeLoan(loan: Loan): void {
    reindex(this.loanByExternalId, loan.externalId, undefined, loan.id)
    this.loansOfClient.get(loan.clientId)?.delete(loan.id)
    this.loans.delete(loan.id)
    this.#accounts.delete(loan.id)
    for (const transaction of this.#transactionsOfLoan.get(loan.id)?.values() ?? []) {
      this.transactions.delete(transaction.id)
      const { externalId, reversalExternalId } = transaction
      if (externalId) this.transactionByExternalId.delete(externalId)
      if (reversalExternalId) this.reversalExternalIds.delete(reversalExternalId)
    }
    this.#transactionsOfLoan.delete(loan.id)
    this.#changes.removedLoans = [...(this.#changes.removedLoans ?? []), loan.id]
  }

  saveTransaction(transaction: Transaction): void {
    const { id, loanId, externalId, reversalExternalId } = transaction
    if (externalId !== undefined) this.transactionByExternalId.set(externalId, id)
    if (reversalExternalId !== undefined) this.reversalExternalIds.add(reversalExternalId)
    this.transactions.set(id, transaction)
    const ofLoan = this.#transactionsOfLoan.get(loanId)
    if (ofLoan) ofLoan.set(id, transaction)
    else this.#transactionsOfLoan.set(loanId, new Map([[id, transaction]]))
    this.#changes.transactions = [...(this.#changes.transactions ?? []), transaction]
  }

  define<Name extends keyof Definitions>(name: Name, definition: Definitions[Name]): void {
    this.defined[name].set(definition.id, definition)
    Object.assign(this.#changes, { [name]: [...(this.#changes[name] ?? []), definition] })
  }

  // The loan's transactions by day, and within a day in order of posting.
  transactionsOf(loan: Loan): Transaction[] {
    const transactions = [...(this.#transactionsOfLoan.get(loan.id)?.values() ?? [])]
    return transactions
      .filter(transaction => !transaction.unlisted)
      .sort((a, b) => (a.date === b.date ? a.id - b.id : a.date < b.date ? -1 : 1))
  }

  accountOf(loan: Loan): Account {
    const kept = this.#accounts.get(loan.id)
    if (kept) return kept
    const account = openAccount(loan)
    for (const transaction of this.transactionsOf(loan)) {
      if (isLiveRepayment(transaction)) allocate(account, transaction.amount, transaction.date)
      else applyOther(account, transaction)
    }
    const oldest = this.#accounts.keys().next()
    if (this.#accounts.size >= MAX_ACCOUNTS && !oldest.done) this.#accounts.delete(oldest.value)
    this.#accounts.set(loan.id, account)
    return account
  }

  forgetAccount(loan: Loan): void {
    this.#accounts.delete(loan.id)
  }

  takeChanges(): Changes {
    const changes = this.#changes
    this.#changes = {}
    return changes
  }

  apply(changes: Changes): void {
    for (const [kind, id] of Object.entries(changes.ids ?? {})) this.#ids[kind as Kind] = id
    // A file of an older sandbox knows no offices.
    for (const client of changes.clients ?? [])
      this.saveClient({ ...client, officeId: client.officeId ?? HEAD_OFFICE_ID })
    for (const loan of changes.loans ?? []) this.saveLoan(loan)
    for (const transaction of changes.transactions ?? [])
      this.saveTransaction({ ...transaction, officeId: transaction.officeId ?? HEAD_OFFICE_ID })
    for (const name of DEFINITIONS) for (const one of changes[name] ?? []) this.define(name, one)
    for (const id of changes.removedLoans ?? []) {
      const loan = this.loans.get(id)
      if (loan) this.removeLoan(loan)
    }
    this.#changes = {}
  }

  copy(): Books {
    const books = new Books()
    for (const changes of this.everything()) books.apply(changes)
    return books
  }

  *everything(): Generator<Changes> {
    yield { ids: this.#ids }
    for (const client of this.clients.values()) yield { clients: [client] }
    for (const loan of this.loans.values()) yield { loans: [loan] }
    for (const transaction of this.transactions.values()) yield { transactions: [transaction] }
    for (const name of DEFINITIONS) yield { [name]: [...this.defined[name].values()] }
  }
}

const byId = <T extends { id: number }>(definitions: T[]): Map<number, T> =>
  new Map(definitions.map(definition => [definition.id, definition]))

export function isLiveRepayment(transaction: Transaction): boolean {
  return transaction.type === 'repayment' && transaction.reversedOn === undefined
}

function reindex(
  index: Map<string, number>,
  before: string | undefined,
  after: string | undefined,
  id: number,
): void {
  if (before !== undefined && before !== after && index.get(before) === id) index.delete(before)
  if (after !== undefined) index.set(after, id)
}
