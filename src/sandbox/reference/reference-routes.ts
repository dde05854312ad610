import { command, type Plan, type Router, read } from '../http/plan.ts'
import { containerError, notSupported } from '../http/refusal.ts'
import { createCharge } from './charges.ts'
import { businessDate, businessDates, configuration, currencies, offices } from './configuration.ts'
import { createPaymentType, paymentTypeById } from './payment-types.ts'
import { productById, productsOf } from './products.ts'

export const planForProducts: Router = (ledger, { method, path: [first, ...rest] }) => {
  if (method !== 'GET') throw notSupported('changing a loan product')
  if (first === undefined) return read('GET products', () => productsOf(ledger))
  // No product has an external id, and Fineract answers an unknown one with a 500.
  if (first === 'external-id' && rest.length === 1) throw containerError(500)
  const id = idIn(first, rest)
  return read('GET product', () => productById(ledger, id))
}

export const planForPaymentTypes: Router = (ledger, { method, path: [first, ...rest] }) => {
  const types = ledger.books.paymentTypes
  if (first === undefined && method === 'POST') {
    return command('CREATE/PAYMENTTYPE', body => createPaymentType(ledger, body))
  }
  if (method !== 'GET') throw notSupported('changing a payment type')
  if (first === undefined) return read('GET payment types', () => [...types.values()])
  const id = idIn(first, rest)
  return read('GET payment type', () => paymentTypeById(ledger, id))
}

export const planForCharges: Router = (ledger, { method, path }) => {
  if (method !== 'POST' || path.length > 0) throw notSupported('charges other than defining them')
  return command('CREATE/CHARGE', body => createCharge(ledger, body))
}

export const planForBusinessDate: Router = (ledger, { method, path: [type, ...rest] }) => {
  if (rest.length > 0) throw containerError(404)
  if (method !== 'GET')
    throw notSupported('setting the business date, except through its control API')
  return read('GET business date', () =>
    type === undefined ? businessDates(ledger) : businessDate(ledger, type),
  )
}

export const planForConfigurations: Router = (ledger, { method, path: [first, name, ...rest] }) => {
  if (method !== 'GET' || first !== 'name' || name === undefined || rest.length > 0) {
    throw notSupported('configurations other than reading one by name')
  }
  return read('GET configuration', () => configuration(ledger, name))
}

export const planForOffices: Router = (_, { method, path }) => {
  if (method !== 'GET' || path.length > 0) throw notSupported('offices other than listing them')
  return read('GET offices', () => offices)
}

export const planForCurrencies: Router = (_, { method, path }) => {
  if (method !== 'GET' || path.length > 0) throw notSupported('currencies other than listing them')
  return read('GET currencies', () => currencies)
}

export const planForBatches = (): Plan => {
  throw notSupported('batches')
}

function idIn(first: string, rest: string[]): number {
  if (rest.length > 0 || !/^\d{1,18}$/.test(first)) throw containerError(404)
  return Number(first)
}
