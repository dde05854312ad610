import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { textOf } from '../fields/text.ts'
import { notFound } from '../http/refusal.ts'
import type { Ledger } from '../storage/ledger.ts'
import { PERMISSIONS, permissionView } from './permissions.ts'
import type { Role } from './user.ts'

export function createRole(ledger: Ledger, body: Body) {
  refuseUnknownKeys(body, new Set(['name', 'description']))
  const check = checks('role')
  const name = textOf(body, 'name')
  const description = textOf(body, 'description')
  check.required('name', name)
  check.required('description', description)
  check.throwIfAny()
  const id = ledger.books.nextId('role')
  const role = { id, name: name ?? '', description: description ?? '', permissions: [] }
  ledger.books.define('roles', role)
  return { resourceId: id }
}

export function setPermissions(ledger: Ledger, role: Role, body: Body) {
  refuseUnknownKeys(body, new Set(['permissions']))
  const held = new Set(role.permissions)
  const changed: Record<string, boolean> = {}
  for (const [code, selected] of Object.entries((body.permissions ?? {}) as Body)) {
    refuseUnknownPermission(code)
    if (held.has(code) === (selected === true)) continue
    changed[code] = selected === true
    if (selected === true) held.add(code)
    else held.delete(code)
  }
  ledger.books.define('roles', { ...role, permissions: [...held] })
  const changes = Object.keys(changed).length > 0 ? { permissions: changed } : {}
  return { resourceId: role.id, changes }
}

export function roleById(ledger: Ledger, id: number): Role {
  const role = ledger.books.defined.roles.get(id)
  if (role) return role
  throw notFound('error.msg.role.id.invalid', `Role with identifier ${id} does not exist`, id)
}

export function roleView({ id, name, description }: Role) {
  return { id, name, description, disabled: false }
}

export function rolePermissionsView(role: Role) {
  const permissionUsageData = PERMISSIONS.map(code => ({
    ...permissionView(code),
    selected: role.permissions.includes(code),
  }))
  return { ...roleView(role), permissionUsageData }
}

function refuseUnknownPermission(code: string): void {
  if (PERMISSIONS.includes(code)) return
  const message = `Permission with Code ${code} does not exist`
  throw notFound('error.msg.permission.code.invalid', message, code)
}
