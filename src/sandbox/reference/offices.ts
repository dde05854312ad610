import { type Body, refuseUnknownKeys } from '../fields/body.ts'
import { checks } from '../fields/checks.ts'
import { dateOf } from '../fields/date.ts'
import { idOf } from '../fields/number.ts'
import { textOf } from '../fields/text.ts'
import { integrityIssue, notFound } from '../http/refusal.ts'
import { day } from '../http/wire.ts'
import type { Ledger } from '../storage/ledger.ts'
import { below, type Office } from './office.ts'

const KEYS = new Set('name parentId openingDate externalId locale dateFormat'.split(' '))

export function createOffice(ledger: Ledger, body: Body) {
  const { books } = ledger
  refuseUnknownKeys(body, KEYS)
  const check = checks('office')
  const name = textOf(body, 'name')
  const openingDate = dateOf(body, 'openingDate')
  const parentId = idOf(body, 'parentId')
  const externalId = textOf(body, 'externalId')
  check.required('name', name)
  check.required('openingDate', openingDate)
  check.required('parentId', parentId)
  check.throwIfAny()
  const parent = officeById(ledger, parentId)
  refuseTaken(ledger, 'name', name)
  refuseTaken(ledger, 'externalId', externalId)
  const id = books.nextId('office')
  const office = { id, name: name ?? '', externalId, openingDate: openingDate ?? '' }
  books.define('offices', below(parent, office))
  return { officeId: id, resourceId: id }
}

export function officeById(ledger: Ledger, id: number | undefined): Office {
  const office = ledger.books.defined.offices.get(id ?? 0)
  if (office) return office
  throw notFound('error.msg.office.id.invalid', `Office with identifier ${id} does not exist`, id)
}

export function officeByExternalId(ledger: Ledger, externalId: string): Office {
  const office = [...ledger.books.defined.offices.values()].find(
    one => one.externalId === externalId,
  )
  if (office) return office
  const message = `Office with external identifier ${externalId} does not exist`
  throw notFound('error.msg.office.external.id.invalid', message, externalId)
}

export function officeName(ledger: Ledger, id: number): string {
  return officeById(ledger, id).name
}

export function officeView(ledger: Ledger, office: Office) {
  const { id, name, externalId, openingDate, parentId, hierarchy } = office
  const depth = hierarchy.split('.').length - 2
  return {
    id,
    name,
    nameDecorated: `${'....'.repeat(depth)}${name}`,
    externalId,
    openingDate: day(openingDate),
    hierarchy,
    ...(parentId === undefined ? {} : { parentId, parentName: officeName(ledger, parentId) }),
  }
}

/** Whether an office is another one or below it. */
export function isWithin({ books }: Ledger, id: number, otherId: number): boolean {
  const office = books.defined.offices.get(id)
  const other = books.defined.offices.get(otherId)
  return office !== undefined && other !== undefined && office.hierarchy.startsWith(other.hierarchy)
}

function refuseTaken(ledger: Ledger, name: 'name' | 'externalId', value: string | undefined) {
  const offices = [...ledger.books.defined.offices.values()]
  if (value === undefined || !offices.some(office => office[name] === value)) return
  const message = `Office with ${name} \`${value}\` already exists`
  throw integrityIssue(`error.msg.office.duplicate.${name}`, message, name, value)
}
