import type { Body } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'
import type { PendingCommand } from '../storage/pending-command.ts'
import { type CommandPlan, command, type Plan, type Request, read, subjectOf } from './plan.ts'
import { containerError, Refusal, standard } from './refusal.ts'
import { idIn } from './target.ts'

/**
 * Fineract carries out a command before it leaves it to a second person, and takes it back: one that it would refuse does
 * not wait.
 */
export function isRefusedAtOnce(ledger: Ledger, { scope, run }: CommandPlan, body: Body): boolean {
  // The books have all that these commands change.
  if (!/\/(CLIENT|LOAN)$/.test(scope)) return false
  const { books } = ledger
  ledger.books = books.copy()
  try {
    run(body)
    return false
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  } finally {
    ledger.books = books
  }
}

/** @returns the number under which a second person approves it */
export function waitForChecker(
  { pending, flags }: Ledger,
  plan: CommandPlan,
  body: Body,
  { text, maker }: Pick<PendingCommand, 'text' | 'maker'>,
): number {
  const { scope, of } = plan
  const externalId = subjectOf(plan, body)
  const isSame = (one: PendingCommand) =>
    one.scope === scope &&
    (externalId === undefined ? one.text === text : one.externalId === externalId)
  // Later versions notice that the same command waits for a checker already.
  if (flags.has('pending-409') && pending.values().some(isSame)) {
    const message = 'The same request waits for approval already.'
    throw standard(409, message, message, 'error.msg.maker.checker.duplicate.pending.submission')
  }
  const id = Math.max(0, ...pending.keys()) + 1
  pending.set(id, { scope, of, externalId, maker, text, run: () => plan.run(body) })
  return id
}

export function planForMakerCheckers(ledger: Ledger, { method, path, query }: Request): Plan {
  const [first, ...rest] = path
  if (first === undefined) {
    if (method !== 'GET') throw containerError(405)
    return read('makercheckers', () => [...ledger.pending].map(viewOf))
  }
  const id = idIn(first, rest)
  if (method !== 'POST') throw containerError(405)
  const found = ledger.pending.get(id)
  if (!found) {
    const message = `Audit with identifier ${id} does not exist`
    throw standard(404, message, message, 'error.msg.audit.id.invalid')
  }
  const decision = query.get('command')
  if (decision !== 'approve' && decision !== 'reject') throw containerError(400)
  const end = (result: object) => {
    ledger.pending.delete(id)
    return result
  }
  if (decision === 'reject') {
    const reject = command('REJECT/MAKERCHECKER', () => end({ commandId: id }))
    return { ...reject, bodyless: true }
  }
  const { scope, of, externalId, run } = found
  const plan = { ...command(scope, () => end(run())), externalId, bodyless: true, isApproved: true }
  return of === undefined ? plan : { ...plan, of }
}

function viewOf([id, { scope, maker, text }]: [number, PendingCommand]) {
  const [actionName, entityName] = scope.split('/')
  return { id, actionName, entityName, maker, commandAsJson: text }
}
