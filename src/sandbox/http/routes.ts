import { planForPermissions, planForRoles, planForUsers } from '../access/access-routes.ts'
import { type Caller, refuseReading } from '../access/caller.ts'
import { planForClients } from '../clients/client-routes.ts'
import { planForSearch } from '../clients/search-clients.ts'
import { planForLoans } from '../loans/loan-routes.ts'
import {
  planForBusinessDate,
  planForCharges,
  planForConfigurations,
  planForCurrencies,
  planForOffices,
  planForPaymentTypes,
  planForProducts,
} from '../reference/reference-routes.ts'
import type { Ledger } from '../storage/ledger.ts'
import { planForBatches } from './batches.ts'
import { planForMakerCheckers } from './maker-checkers.ts'
import type { Plan, Request, Router } from './plan.ts'
import { containerError } from './refusal.ts'

/** Each with the entity that one must be allowed to read, if any. */
const resources: Record<string, [router: Router, entity: string | null]> = {
  clients: [planForClients, 'CLIENT'],
  loans: [planForLoans, 'LOAN'],
  loanproducts: [planForProducts, 'LOANPRODUCT'],
  paymenttypes: [planForPaymentTypes, 'PAYMENTTYPE'],
  charges: [planForCharges, 'CHARGE'],
  businessdate: [planForBusinessDate, 'BUSINESS_DATE'],
  configurations: [planForConfigurations, 'CONFIGURATION'],
  offices: [planForOffices, 'OFFICE'],
  currencies: [planForCurrencies, 'CURRENCY'],
  users: [planForUsers, 'USER'],
  roles: [planForRoles, 'ROLE'],
  permissions: [planForPermissions, 'PERMISSION'],
  search: [planForSearch, null],
  makercheckers: [planForMakerCheckers, 'AUDIT'],
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE'])

export function planOf(ledger: Ledger, request: Request): Plan {
  const [name = '', ...path] = request.path
  const resource = Object.hasOwn(resources, name) ? resources[name] : undefined
  if (!resource && name !== 'batches') throw containerError(404)
  if (!METHODS.has(request.method)) throw containerError(405)
  if (!resource) return planForBatches(ledger, { ...request, path }, planOf)
  const [router, entity] = resource
  if (request.method === 'GET' && entity !== null && !isSelf(name, path, request.caller))
    refuseReading(request.caller, entity)
  return router(ledger, { ...request, path })
}

/** Any user may read itself. */
const isSelf = (name: string, [id]: string[], { user }: Caller): boolean =>
  name === 'users' && id === String(user.id)
