import { sees } from '../access/caller.ts'
import { type Router, read } from '../http/plan.ts'
import { containerError, notSupported } from '../http/refusal.ts'
import { likePattern } from '../http/search.ts'
import { officeName } from '../reference/offices.ts'
import { type Client, displayName } from './client.ts'
import { accountNo, statusOf } from './client-view.ts'

/** Anybody may search, among the clients of their own office and those below it. */
export const planForSearch: Router = (ledger, { method, path, query, caller }) => {
  if (path.length > 0) throw containerError(404)
  if (method !== 'GET') throw containerError(405)
  if (query.get('resource') !== 'clients') throw notSupported('a search for more than clients')
  const wanted = query.get('query') ?? ''
  const pattern = likePattern(query.get('exactMatch') === 'true' ? wanted : `%${wanted}%`)
  const isFound = (client: Client) =>
    [accountNo(client.id), displayName(client), client.externalId, client.mobileNo].some(
      text => text !== undefined && pattern.test(text),
    )
  return read('GET search', () =>
    [...ledger.books.clients.values()]
      .filter(client => isFound(client) && sees(ledger, caller, client.officeId))
      .map(client => ({
        entityId: client.id,
        entityAccountNo: accountNo(client.id),
        entityExternalId: client.externalId,
        entityName: displayName(client),
        entityType: 'CLIENT',
        parentId: client.officeId,
        parentName: officeName(ledger, client.officeId),
        entityMobileNo: client.mobileNo,
        entityStatus: statusOf(client),
      })),
  )
}
