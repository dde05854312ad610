import { planForClients } from '../clients/client-routes.ts'
import { planForLoans } from '../loans/loan-routes.ts'
import {
  planForBatches,
  planForBusinessDate,
  planForCharges,
  planForConfigurations,
  planForCurrencies,
  planForOffices,
  planForPaymentTypes,
  planForProducts,
} from '../reference/reference-routes.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { Plan, Request, Router } from './plan.ts'
import { containerError } from './refusal.ts'

const resources: Record<string, Router> = {
  clients: planForClients,
  loans: planForLoans,
  loanproducts: planForProducts,
  paymenttypes: planForPaymentTypes,
  charges: planForCharges,
  businessdate: planForBusinessDate,
  configurations: planForConfigurations,
  offices: planForOffices,
  currencies: planForCurrencies,
  batches: planForBatches,
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE'])

export function planOf(ledger: Ledger, request: Request): Plan {
  const [resource = '', ...path] = request.path
  const router = Object.hasOwn(resources, resource) ? resources[resource] : undefined
  if (!router) throw containerError(404)
  if (!METHODS.has(request.method)) throw containerError(405)
  return router(ledger, { ...request, path })
}
