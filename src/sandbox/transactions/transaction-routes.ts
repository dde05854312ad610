import { command, type Plan, read } from '../http/plan.ts'
import { containerError, notSupported, unsupportedCommand } from '../http/refusal.ts'
import type { Target } from '../http/target.ts'
import type { Loan } from '../loans/loan.ts'
import type { Ledger } from '../storage/ledger.ts'
import { adjustTransaction } from './adjust-transaction.ts'
import { chargeBack } from './charge-back.ts'
import { transactionByExternalId, transactionById } from './find-transaction.ts'
import { payoffQuote } from './payoff-quote.ts'
import { repayLoan } from './repay-loan.ts'
import { transactionView } from './transaction-view.ts'
import { undoWriteOff, writeOff } from './write-off.ts'

const NOT_SUPPORTED = new Set(
  `merchantIssuedRefund payoutRefund goodwillCredit creditBalanceRefund refundByCash refundByTransfer
  chargeRefund recoverypayment interestPaymentWaiver waiveinterest foreclosure
  close close-rescheduled charge-off undo-charge-off downPayment reAge undoReAge reAmortize
  undoReAmortize`.split(/\s+/),
)

export function planForTransactions(
  ledger: Ledger,
  method: string,
  query: URLSearchParams,
  target: Target<Loan>,
): Plan {
  const { find, rest } = target
  const [, ...path] = rest
  const [first, second] = path
  const name = query.get('command')
  if (first === undefined) return planForAll(ledger, method, name, find)
  if (first === 'template') return planForTemplate(ledger, method, name, find)
  const byExternalId = first === 'external-id' && second !== undefined
  if (path.length !== (byExternalId ? 2 : 1)) throw containerError(404)
  if (!byExternalId && !/^\d{1,18}$/.test(first)) throw containerError(404)
  const found = byExternalId ? transactionByExternalId(ledger, find(), second).id : Number(first)
  if (method === 'GET') {
    return read('GET transaction', () => {
      const transaction = transactionById(ledger, target.id, found)
      return transactionView(ledger, find(), transaction)
    })
  }
  if (method !== 'POST') throw containerError(405)
  if (name === 'chargeback') {
    return command('CHARGEBACK/LOAN', body =>
      chargeBack(ledger, find(), transactionById(ledger, target.id, found), body),
    )
  }
  return command('ADJUST/LOAN', body => {
    const whose = ` for loan with identifier ${target.id}.`
    const transaction = transactionById(ledger, target.id, found, whose)
    return adjustTransaction(ledger, find(), transaction, body)
  })
}

function planForAll(ledger: Ledger, method: string, name: string | null, find: () => Loan): Plan {
  if (method === 'GET') throw notSupported('listing transactions other than as an association')
  if (method !== 'POST') throw containerError(405)
  if (name === 'repayment')
    return command('REPAYMENT/LOAN', body => repayLoan(ledger, find(), body))
  if (name === 'writeoff') return command('WRITEOFF/LOAN', body => writeOff(ledger, find(), body))
  if (name === 'undowriteoff')
    return command('UNDOWRITEOFF/LOAN', body => undoWriteOff(ledger, find(), body))
  if (name !== null && NOT_SUPPORTED.has(name)) throw notSupported(`the transaction ${name}`)
  throw unsupportedCommand(name)
}

function planForTemplate(
  ledger: Ledger,
  method: string,
  name: string | null,
  find: () => Loan,
): Plan {
  if (method !== 'GET') throw containerError(405)
  if (name !== 'prepayLoan') throw notSupported(`the transaction template ${name}`)
  return read('GET payoff quote', () => payoffQuote(ledger, find()))
}
