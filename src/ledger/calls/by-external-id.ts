import { LedgerTrouble, NOTHING_WRITTEN } from '../answers/answer.ts'
import { misconfigured } from '../answers/misconfigured.ts'
import type { Done, Reader, Reading } from './client.ts'
import { escapeLike } from './escape-like.ts'
import { type LedgerPath, ledgerPath } from './path.ts'

type Kind = 'loans' | 'clients'
type Listed = { id: number; externalId?: string }
type Page = { totalFilteredRecords?: number; pageItems?: Listed[] }
type Refused = Reading<never> & { outcome: 'refused' }

/** The container in front of the ledger takes none of these in a path, even encoded. */
const NOT_IN_PATHS = /[/\\;%]/
const CODES = {
  loans: 'error.msg.loan.external.id.invalid',
  clients: 'error.msg.client.id.invalid',
} as const

type CallOfRecord = {
  kind: Kind
  externalId: string
  below?: (string | number)[]
  query?: Record<string, string>
  isWrite?: true
}

type FoundRecord = { kind: Kind; externalId: string; id: number }

/** The record found last, by reader: an attempt has a reader of its own. */
const lastFound = new WeakMap<object, FoundRecord>()

export const noteRead = (ledger: Reader, found: FoundRecord) => void lastFound.set(ledger, found)

/** @returns the number of this record, if it is what was read last */
export function lastRead(
  ledger: object,
  { kind, externalId }: Pick<FoundRecord, 'kind' | 'externalId'>,
): number | undefined {
  const last = lastFound.get(ledger)
  return last?.kind === kind && last.externalId === externalId ? last.id : undefined
}

/** Calls what has this external id: by the id itself, or, where no path takes it, by the number that the ledger lists for it. */
export async function atExternalId<Answered>(
  ledger: Reader,
  { kind, externalId, below = [], query = {}, isWrite }: CallOfRecord,
  call: (path: LedgerPath) => Promise<Answered>,
): Promise<Answered | Refused> {
  if (!NOT_IN_PATHS.test(externalId))
    return call(ledgerPath([kind, 'external-id', externalId, ...below], query))
  // A write follows what its attempt has just read. A look must see what became of the number.
  const known = isWrite && lastRead(ledger, { kind, externalId })
  const id = known || (await findListed(ledger, kind, externalId))
  if (typeof id !== 'number') return id
  lastFound.set(ledger, { kind, externalId, id })
  return call(ledgerPath([kind, id, ...below], query))
}

/** The ledger takes some texts in a query for an attack, and refuses them. */
async function findListed(ledger: Reader, kind: Kind, externalId: string) {
  const path = ledgerPath([kind], {
    // For loans, the query is exact.
    externalId: kind === 'clients' ? escapeLike(externalId) : externalId,
  })
  const answer = await ledger.read<Page>(path)
  if (answer.outcome === 'refused') return answer
  const { pageItems, totalFilteredRecords } = answer.body
  // A proxy may mix up answers: one to another call says nothing about this record.
  if (pageItems === undefined) throw new LedgerTrouble({ ...answer, outcome: 'not_arrived' })
  const equal = pageItems.filter(one => one.externalId === externalId)
  // The ledger lists what contains the external id, whatever its case.
  if (pageItems.some(one => !contains(one.externalId, externalId)))
    throw new LedgerTrouble({ ...answer, outcome: 'not_arrived' })
  if (equal.length > 1 || pageItems.length !== totalFilteredRecords)
    throw misconfigured(path, `the ledger lists more than one with the external id ${externalId}`)
  if (equal[0] !== undefined) return equal[0].id
  await refuseHidden(ledger, path)
  return missing(kind, path, externalId)
}

const contains = (listed = '', asked: string) => listed.toLowerCase().includes(asked.toLowerCase())

/** A list says nothing about what it leaves out, and a user of another office than the top one sees only a part. */
async function refuseHidden(ledger: Reader, path: LedgerPath): Promise<void> {
  const offices = ledgerPath(['offices'])
  const { body } = done(await ledger.read<{ parentId?: number }[]>(offices))
  if (Array.isArray(body) && body.some(({ parentId }) => parentId === undefined)) return
  const whose = 'LoanOps’s user (LEDGER_USERNAME), who does not belong to its top office'
  throw misconfigured(path, `the ledger does not list it, but may hide it from ${whose}`)
}

function done<Body>(reading: Reading<Body>): Done<Body> {
  if (reading.outcome === 'done') return reading
  throw new LedgerTrouble({ ...reading, outcome: 'not_arrived' })
}

/** The refusal with which the ledger answers an unknown id in a path. */
function missing(kind: Kind, path: LedgerPath, externalId: string): Refused {
  const code = CODES[kind]
  const what = kind === 'loans' ? 'Loan' : 'Client'
  const defaultUserMessage = `${what} with external identifier ${externalId} does not exist`
  const error = { userMessageGlobalisationCode: code, defaultUserMessage }
  return {
    ...NOTHING_WRITTEN,
    method: 'GET',
    path,
    status: 404,
    body: { httpStatusCode: '404', ...error, errors: [error] },
    outcome: 'refused',
    code,
    message: defaultUserMessage,
  }
}
