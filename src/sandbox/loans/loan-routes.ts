import { type Caller, sees } from '../access/caller.ts'
import { clientById } from '../clients/find-client.ts'
import type { Body } from '../fields/body.ts'
import { command, type Plan, type Request, read } from '../http/plan.ts'
import { containerError, notSupported, unsupportedCommand } from '../http/refusal.ts'
import { pageOf, refuseAttack } from '../http/search.ts'
import { type Target, targetIn } from '../http/target.ts'
import type { Ledger } from '../storage/ledger.ts'
import { planForTransactions } from '../transactions/transaction-routes.ts'
import { approveLoan } from './approve-loan.ts'
import { chargesOf } from './associations.ts'
import { createLoan } from './create-loan.ts'
import { deleteLoan } from './delete-loan.ts'
import { disburseLoan } from './disburse-loan.ts'
import { loanByExternalId, loanById, loanNotFound } from './find-loan.ts'
import type { Loan } from './loan.ts'
import { loanNotes } from './loan-notes.ts'
import { loanTemplate } from './loan-template.ts'
import { loanView } from './loan-view.ts'
import { previewLoan } from './preview-loan.ts'
import { rejectLoan, withdrawLoan } from './turn-down-loan.ts'
import { undoApproval } from './undo-approval.ts'
import { undoDisbursal } from './undo-disbursal.ts'
import { updateLoan } from './update-loan.ts'

type LoanCommand = (ledger: Ledger, loan: Loan, body: Body) => object

const commands: Record<string, [scope: string, run: LoanCommand]> = {
  approve: ['APPROVE/LOAN', approveLoan],
  undoapproval: ['APPROVALUNDO/LOAN', undoApproval],
  reject: ['REJECT/LOAN', rejectLoan],
  withdrawnByApplicant: ['WITHDRAW/LOAN', withdrawLoan],
  disburse: ['DISBURSE/LOAN', disburseLoan],
  undodisbursal: ['DISBURSALUNDO/LOAN', undoDisbursal],
}

const NOT_SUPPORTED = new Set(
  `disburseToSavings disburseWithoutAutoDownPayment undolastdisbursal assignloanofficer
  unassignloanofficer recoverGuarantees assigndelinquency`.split(/\s+/),
)
const PARTS_NOT_SUPPORTED = new Set(
  'charges collaterals guarantors schedule disbursements delinquencytags'.split(' '),
)

export function planForLoans(ledger: Ledger, request: Request): Plan {
  const { method, path, query } = request
  if (path.length === 0) return planForAll(ledger, request)
  if (path[0] === 'template' && method === 'GET')
    return read('GET loan template', () => loanTemplate(ledger, query))
  // Fineract does not serve notes by external id.
  if (path[0] === 'external-id' && path[2] === 'notes') throw containerError(404)
  const target = targetIn(
    path,
    externalId => loanByExternalId(ledger, externalId),
    id => loanById(ledger, id),
  )
  const plan = planForPart(ledger, request, target)
  if (plan.kind !== 'command') return plan
  // One name per loan, however it is addressed, so that overlapping writes to it are noticed.
  const [first = '', second] = path
  const found = first === 'external-id' ? second : ledger.books.loans.get(Number(first))?.externalId
  return { ...plan, of: 'loan', externalId: found ?? `#${first}` }
}

function planForAll(ledger: Ledger, request: Request): Plan {
  const { method, query } = request
  if (method === 'GET') return read('GET loans', () => search(ledger, request))
  if (method !== 'POST') throw containerError(405)
  if (query.get('command') === 'calculateLoanSchedule')
    return { kind: 'query', name: 'preview', run: body => previewLoan(ledger, body) }
  return { ...command('CREATE/LOAN', body => createLoan(ledger, body)), of: 'loan' }
}

function planForPart(ledger: Ledger, request: Request, target: Target<Loan>): Plan {
  const { method, query } = request
  const [part, ...rest] = target.rest
  if (part === undefined) return planForOne(ledger, request, target)
  if (part === 'charges' && rest.length === 0 && method === 'GET')
    return read('GET loan charges', () => chargesOf(ledger, target.id))
  if (part === 'transactions') return planForTransactions(ledger, method, query, target)
  if (part === 'notes' && rest.length === 0 && method === 'GET')
    return read('GET loan notes', () => loanNotes(ledger, target.find()))
  if (part === 'notes' || PARTS_NOT_SUPPORTED.has(part)) throw notSupported(`${part} of a loan`)
  throw containerError(404)
}

function planForOne(
  ledger: Ledger,
  { method, query, caller }: Request,
  { find }: Target<Loan>,
): Plan {
  if (method === 'GET')
    return read('GET loan', () => loanView(ledger, seen(ledger, caller, find()), query))
  if (method === 'PUT') return command('UPDATE/LOAN', body => updateLoan(ledger, find(), body))
  if (method === 'DELETE')
    return { ...command('DELETE/LOAN', () => deleteLoan(ledger, find())), bodyless: true }
  if (method !== 'POST') throw containerError(405)
  const name = query.get('command')
  const known = name === null ? undefined : commands[name]
  if (known) return command(known[0], body => known[1](ledger, find(), body))
  if (name !== null && NOT_SUPPORTED.has(name)) throw notSupported(`the loan command ${name}`)
  throw unsupportedCommand(name)
}

/** One of another office is hidden from reads, and from nothing else. */
function seen(ledger: Ledger, caller: Caller, loan: Loan): Loan {
  if (isSeen(ledger, caller, loan)) return loan
  throw loanNotFound(loan.id)
}

const isSeen = (ledger: Ledger, caller: Caller, loan: Loan): boolean =>
  sees(ledger, caller, clientById(ledger, loan.clientId).officeId)

function search(ledger: Ledger, { query, caller }: Request) {
  const found = foundBy(ledger, query.get('externalId')).filter(loan =>
    isSeen(ledger, caller, loan),
  )
  const none = new URLSearchParams()
  const pageItems = pageOf(found, query).map(loan => loanView(ledger, loan, none))
  return { totalFilteredRecords: found.length, pageItems }
}

function foundBy({ books }: Ledger, externalId: string | null): Loan[] {
  if (externalId === null) return [...books.loans.values()]
  refuseAttack(externalId)
  const loan = books.loans.get(books.loanByExternalId.get(externalId) ?? 0)
  return loan ? [loan] : []
}
