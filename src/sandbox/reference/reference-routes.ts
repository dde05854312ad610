import { command, type Plan, type Router, read } from '../http/plan.ts'
import { containerError, notPlayed } from '../http/refusal.ts'
import { createCharge } from './charges.ts'
import { businessDate, businessDates, configuration, currencies, offices } from './configuration.ts'
import { createPaymentType, paymentTypeById } from './payment-types.ts'
import { productById, productsOf } from './products.ts'

export const planForProducts: Router = (ledger, { method, path: [first, ...rest] }) => {
  if (method !== 'GET') throw notPlayed('changing a loan product')
  if (first === undefined) return read('GET products', () => productsOf(ledger))
  // No product has an external id, and the ledger answers an unknown one in this way.
  if (first === 'external-id' && rest.length === 1) throw containerError(500)
  const id = idIn(first, rest)
  return read('GET product', () => productById(ledger, id))
}

export const planForPaymentTypes: Router = (ledger, { method, path: [first, ...rest] }) => {
  const types = ledger.books.paymentTypes
  if (first === undefined && method === 'POST') {
    return command('CREATE/PAYMENTTYPE', body => createPaymentType(ledger, body))
  }
  if (method !== 'GET') throw notPlayed('changing a payment type')
  if (first === undefined) return read('GET payment types', () => [...types.values()])
  const id = idIn(first, rest)
  return read('GET payment type', () => paymentTypeById(ledger, id))
}

export const planForCharges: Router = (ledger, { method, path }) => {
  if (method !== 'POST' || path.length > 0) throw notPlayed('charges but for their definition')
  return command('CREATE/CHARGE', body => createCharge(ledger, body))
}

export const planForBusinessDate: Router = (ledger, { method, path: [type, ...rest] }) => {
  if (rest.length > 0) throw containerError(404)
  if (method !== 'GET') throw notPlayed('setting the business date, but for its control API')
  return read('GET business date', () =>
    type === undefined ? businessDates(ledger) : businessDate(ledger, type),
  )
}

export const planForConfigurations: Router = (ledger, { method, path: [first, name, ...rest] }) => {
  if (method !== 'GET' || first !== 'name' || name === undefined || rest.length > 0) {
    throw notPlayed('configurations but for those read by name')
  }
  return read('GET configuration', () => configuration(ledger, name))
}

export const planForOffices: Router = (_, { method, path }) => {
  if (method !== 'GET' || path.length > 0) throw notPlayed('offices but for their list')
  return read('GET offices', () => offices)
}

export const planForCurrencies: Router = (_, { method, path }) => {
  if (method !== 'GET' || path.length > 0) throw notPlayed('currencies but for their list')
  return read('GET currencies', () => currencies)
}

export const planForBatches = (): Plan => {
  throw notPlayed('batches')
}

function idIn(first: string, rest: string[]): number {
  if (rest.length > 0 || !/^\d{1,18}$/.test(first)) throw containerError(404)
  return Number(first)
}
