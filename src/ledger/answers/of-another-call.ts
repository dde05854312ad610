import { codeOf, isOfLedgerShape } from './error-body.ts'

/** A proxy that mixes up its connections passes on answers to other calls. Some ledgers ignore case in external ids. */
export function isAnother(asked: string | number | undefined, answered: unknown): boolean {
  if (typeof asked === 'number') return typeof answered === 'number' && answered !== asked
  if (asked === undefined || typeof answered !== 'string') return false
  return answered.toLowerCase() !== asked.toLowerCase()
}

/** The members by which the answer to an applied write is known. */
export type Promised = {
  /** A 200 has this member if, and only if, the write was applied. */
  promisedId: 'clientId' | 'loanId' | 'resourceId'
  /** Members that a 200 may leave out. If it has one with another value, it is the answer to another call. */
  named?:
    | {
        loanId?: number | undefined
        resourceId?: number
        resourceExternalId?: string
        subResourceExternalId?: string
      }
    | undefined
  /** The members of the body that change something: a 200 lists them. */
  changed?: string[] | undefined
  /** The write applies for a loan. */
  isApplication?: true
  /** The body of the write. */
  sent?: Record<string, unknown> | undefined
}

/** What one command alone sends, and its result repeats among `changes`. */
const FIELDS_OF_ONE_COMMAND = ['approvedOnDate', 'actualDisbursementDate', 'transactionDate']

/** Whether the result is about another record, or of another command, than the write. */
export function isResultOfAnother(
  { body, isFromStore }: { body: unknown; isFromStore: boolean },
  { promisedId, named = {}, changed = [], sent }: Promised,
): boolean {
  const result = body as Record<string, unknown>
  if (Object.entries(named).some(([name, value]) => isAnother(value, result[name]))) return true
  // Only what was read has this member; and the result of a command on a record is that record.
  if (typeof result.id === 'number') return true
  const id = result[promisedId]
  if (promisedId !== 'resourceId' && isAnother(id as number | undefined, result.resourceId))
    return true
  // A stored result is that of the first call under our key, which may have sent other values.
  if (isFromStore || result.rollbackTransaction === true) return false
  if (typeof id !== 'number') return false
  const changes = (result.changes ?? {}) as Record<string, unknown>
  if (sent === undefined) return Object.keys(changes).length > 0
  return (
    FIELDS_OF_ONE_COMMAND.some(name => !isRepeated(sent[name], changes[name])) ||
    changed.some(name => changes[name] === undefined) ||
    Object.keys(changes).some(
      name => sent[name] !== undefined && !isRepeated(sent[name], changes[name]),
    )
  )
}

/** The ledger writes some numbers as texts, and some days as lists. */
function isRepeated(sent: unknown, answered: unknown): boolean {
  if (typeof answered === 'object' && answered !== null) return sent !== undefined
  const [one, other] = [sent ?? '', answered ?? '']
  return one === other || (one !== '' && other !== '' && Number(one) === Number(other))
}

/** The codes for what does not exist, by what it is. */
const ABSENCE_CODES = {
  loans: /^error\.msg\.loan\.(external\.)?id\.invalid$/,
  clients: /^error\.msg\.client\.(external\.)?id\.invalid$/,
  transactions: /^error\.msg\.loan\.transaction\.(external\.)?id\.invalid$/,
}

/** The codes with which the ledger refuses these calls, and no others. */
const CODES_OF_CALLS: [calls: string[], codes: RegExp][] = [
  [['approve'], /^error\.msg\.loan\.approv(e|al)\.|^validation\.msg\.loanapplication\.approv/],
  // A top-up loan is refused for its expected disbursal by other calls too.
  [
    ['disburse'],
    /^error\.msg\.loan\.disburs(al|e|ement)\.(?!date\.should\.)|^validation\.msg\.loan\.disbursement\./,
  ],
  // The ledger names the strategy of a product's repayments so where it refuses an application, or its change.
  [
    ['transactions', 'disburse'],
    /^error\.msg\.loan\.(must\.be\.active|repayment(?!\.strategy)|transaction)\.|^validation\.msg\.loan\.transaction\./,
  ],
  // LoanOps changes no external id.
  [['POST'], /^error\.msg\.loan\.(with|duplicate)\.externalId/],
  [['PUT'], /^error\.msg\.loan\.cannot\.modify\./],
  [['DELETE'], /^error\.msg\.loan\.cannot\.delete\./],
  [['clients'], /^error\.msg\.(clients\.|client\.duplicate\.)|^validation\.msg\.client\./],
]

/** Whether a refusal is about another record, or of another command, than the call. */
export function isRefusalOfAnother({ method, path, status, body }: Refused): boolean {
  const code = codeOf(body) ?? ''
  const call = callOf(method, path)
  if (status === 404) {
    const absent = Object.entries(ABSENCE_CODES).find(([, codes]) => codes.test(code))
    if (absent !== undefined) return isAbsenceOfAnother(call, absent[0], body)
    if (method === 'GET' && ['loans', 'clients'].includes(call.kind)) return true
  }
  return CODES_OF_CALLS.some(([calls, codes]) => codes.test(code) && !calls.includes(call.name))
}

type Refused = { method: string; path: string; status: number | null; body: unknown }

function isAbsenceOfAnother(call: Call, kind: string, body: unknown): boolean {
  // An application, and its change, name the client by number.
  if (kind === 'clients' && call.kind === 'loans') return !['POST', 'PUT'].includes(call.name)
  if (!(kind in call.named)) return call.kind === 'loans' || call.kind === 'clients'
  const named = call.named[kind]
  if (named === null) return true
  const told = isOfLedgerShape(body) ? body.errors?.[0]?.args?.[0]?.value : undefined
  return isAnother(named, told)
}

/**
 * `named`: the external ids in the path by kind, undefined for what the call names by number, and null where it is about
 * no record of the kind that exists.
 */
type Call = { kind: string; name: string; named: Record<string, string | null | undefined> }

function callOf(method: string, path: string): Call {
  const [steps = '', query = ''] = path.split('?')
  const [kind = '', ...below] = steps.slice(1).split('/').map(decodeURIComponent)
  const named: Call['named'] = {}
  for (const ids = [kind, ...below]; ids.length > 0; ) {
    const [under = ''] = ids.splice(0, 1)
    if (ids.length === 0) named[under] = null
    else named[under] = ids.shift() === 'external-id' ? ids.shift() : undefined
  }
  if (kind === 'clients') return { kind, named, name: kind }
  const command = new URLSearchParams(query).get('command')
  return { kind, named, name: 'transactions' in named ? 'transactions' : (command ?? method) }
}
