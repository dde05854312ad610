import type { GatewayAccount } from '../../config/gateway-accounts.ts'
import type { WorkerContext } from '../../engine/feature.ts'
import type { Run } from '../../queue/run-job.ts'
import { askAccount, type Budget, newBudget } from './ask-account.ts'

type Budgets = Map<GatewayAccount, Budget>
/** A batch asks twice, with one budget for both. */
const budgets = new WeakMap<Run, Budgets>()
/** The budgets of a process's last batch, because a gateway may have asked us to wait beyond it. */
const lastBudgets = new WeakMap<WorkerContext, Budgets>()

/**
 * Asks all accounts in parallel, so that one that does not answer delays no other.
 * @returns how many payments the answers changed
 */
export async function askGateways(context: WorkerContext, run: Run): Promise<number> {
  const { config, traces } = context
  const accounts = config.gatewayAccounts.filter(account => isForConfirming(context, account))
  if (accounts.length === 0) return 0
  const ofLast = lastBudgets.get(context)
  const ofRun: Budgets =
    budgets.get(run) ?? new Map(accounts.map(one => [one, newBudget(ofLast?.get(one)?.from)]))
  budgets.set(run, ofRun)
  lastBudgets.set(context, ofRun)
  const results = await Promise.allSettled(
    accounts.map(account => {
      const budget = ofRun.get(account) as Budget
      const attributes = { 'loanops.batch_id': run.claim.id, 'loanops.gateway': account.gateway }
      return traces
        .at(null)
        .span({ name: 'confirm', attributes }, trace =>
          askAccount(context, run, account, { budget, trace }),
        )
    }),
  )
  const failed = results.find(one => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0)
}

function isForConfirming({ config }: WorkerContext, { gateway, lender }: GatewayAccount): boolean {
  return [...config.lenders.values()].some(
    one =>
      one[gateway].confirm &&
      (lender === null ? one[gateway].api === undefined : one.code === lender),
  )
}
