import { sees } from '../access/caller.ts'
import { command, type Router, read } from '../http/plan.ts'
import { containerError, notSupported } from '../http/refusal.ts'
import { idIn } from '../http/target.ts'
import { chargeView, createCharge } from './charges.ts'
import { businessDate, businessDates, configuration, configurations } from './configuration.ts'
import { createProduct } from './create-product.ts'
import { currencies } from './currency.ts'
import type { Office } from './office.ts'
import { createOffice, officeByExternalId, officeById, officeView } from './offices.ts'
import type { PaymentType } from './payment-type.ts'
import { createPaymentType, paymentTypeById } from './payment-types.ts'
import { productById, productsView, productWithCharges } from './products.ts'

export const planForProducts: Router = (ledger, { method, path: [first, ...rest] }) => {
  if (first === undefined && method === 'POST')
    return command('CREATE/LOANPRODUCT', body => createProduct(ledger, body))
  if (method !== 'GET') throw notSupported('changing a loan product')
  if (first === undefined) return read('GET products', () => productsView(ledger))
  // No product has an external id, and Fineract answers an unknown one with a 500.
  if (first === 'external-id' && rest.length === 1) throw containerError(500)
  const id = idIn(first, rest)
  return read('GET product', () => productWithCharges(ledger, productById(ledger, id)))
}

export const planForPaymentTypes: Router = (ledger, { method, path, query }) => {
  const [first, ...rest] = path
  const types = ledger.books.defined.paymentTypes
  if (first === undefined && method === 'POST')
    return command('CREATE/PAYMENTTYPE', body => createPaymentType(ledger, body))
  if (method !== 'GET') throw notSupported('changing a payment type')
  if (first === undefined) return read('GET payment types', () => typesIn(types, query))
  const id = idIn(first, rest)
  return read('GET payment type', () => paymentTypeById(ledger, id))
}

function typesIn(types: Map<number, PaymentType>, query: URLSearchParams): PaymentType[] {
  const onlyWithCode = query.get('onlyWithCode') === 'true'
  return [...types.values()].filter(({ codeName }) => !onlyWithCode || codeName !== undefined)
}

export const planForCharges: Router = (ledger, { method, path }) => {
  if (method === 'GET' && path.length === 0)
    return read('GET charges', () => [...ledger.books.defined.charges.values()].map(chargeView))
  if (method !== 'POST' || path.length > 0) throw notSupported('changing a charge')
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
  if (method !== 'GET') throw notSupported('changing a configuration')
  if (first === undefined) return read('GET configurations', () => configurations(ledger))
  if (first === 'name' && name !== undefined && rest.length === 0)
    return read('GET configuration', () => configuration(ledger, 'name', name))
  const id = idIn(first, [...(name === undefined ? [] : [name]), ...rest])
  return read('GET configuration', () => configuration(ledger, 'id', id))
}

export const planForOffices: Router = (
  ledger,
  { method, path: [first, second, ...rest], caller },
) => {
  if (first === undefined && method === 'POST')
    return command('CREATE/OFFICE', body => createOffice(ledger, body))
  if (method !== 'GET') throw notSupported('changing an office')
  const view = (office: Office) => officeView(ledger, office)
  if (first === undefined) {
    const seen = () =>
      [...ledger.books.defined.offices.values()].filter(one => sees(ledger, caller, one.id))
    return read('GET offices', () => seen().map(view))
  }
  if (first === 'external-id' && second !== undefined && rest.length === 0)
    return read('GET office', () => view(officeByExternalId(ledger, second)))
  const id = idIn(first, [...(second === undefined ? [] : [second]), ...rest])
  return read('GET office', () => view(officeById(ledger, id)))
}

export const planForCurrencies: Router = (_, { method, path }) => {
  if (method !== 'GET' || path.length > 0) throw notSupported('currencies other than listing them')
  return read('GET currencies', () => currencies)
}
