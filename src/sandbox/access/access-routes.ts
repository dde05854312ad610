import { command, type Router, read } from '../http/plan.ts'
import { containerError, notSupported } from '../http/refusal.ts'
import { idIn } from '../http/target.ts'
import { PERMISSIONS, permissionView, TASKS } from './permissions.ts'
import { createRole, roleById, rolePermissionsView, roleView, setPermissions } from './roles.ts'
import { createUser, userById, userView } from './users.ts'

export const planForUsers: Router = (ledger, { method, path: [first, ...rest] }) => {
  if (first === undefined && method === 'POST')
    return command('CREATE/USER', body => createUser(ledger, body))
  if (method !== 'GET') throw notSupported('changing a user')
  if (first === undefined) {
    return read('GET users', () =>
      [...ledger.books.defined.users.values()].map(u => userView(ledger, u)),
    )
  }
  const id = idIn(first, rest)
  return read('GET user', () => userView(ledger, userById(ledger, id)))
}

export const planForRoles: Router = (ledger, { method, path: [first, part, ...rest] }) => {
  if (first === undefined && method === 'POST')
    return command('CREATE/ROLE', body => createRole(ledger, body))
  if (first === undefined && method === 'GET')
    return read('GET roles', () => [...ledger.books.defined.roles.values()].map(roleView))
  const id = idIn(first ?? '', rest)
  if (method === 'PUT' && part === 'permissions')
    return command('PERMISSIONS/ROLE', body => setPermissions(ledger, roleById(ledger, id), body))
  if (method !== 'GET') throw notSupported('changing a role, except for its permissions')
  if (part === undefined) return read('GET role', () => roleView(roleById(ledger, id)))
  if (part !== 'permissions') throw containerError(404)
  return read('GET permissions of a role', () => rolePermissionsView(roleById(ledger, id)))
}

export const planForPermissions: Router = ({ flags }, { method, path, query }) => {
  if (method !== 'GET' || path.length > 0) throw notSupported('changing permissions')
  if (query.get('makerCheckerable') !== 'true')
    return read('GET permissions', () => PERMISSIONS.map(permissionView))
  const checked = flags.get('maker-checker') ?? []
  return read('GET tasks of maker-checker', () =>
    TASKS.map(code => ({ ...permissionView(code), selected: checked.includes(code) })),
  )
}
