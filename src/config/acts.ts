import { FormatRegistry } from '@sinclair/typebox'
import { listOf } from './settings/setting-formats.ts'

/**
 * The acts that may be kept for persons. `bulk` is a call with a list, or a console action on everything that matches
 * a filter.
 */
export const ACTS = [
  'payment.assign',
  'payment.post',
  'payment.handled',
  'payment.dismiss',
  'payment.reverse',
  'payment.restore',
  'payment.reopen',
  'operation.resolve',
  'operation.cancel',
  'ledger.pause',
  'portfolio.run',
  'portfolio.discard',
  'callback.replay',
  'reference.write',
  'statement.withdraw',
  'account.register',
  'account.disable',
  'account.unlock',
  'account.reset',
  'bulk',
] as const
export type Act = (typeof ACTS)[number]

FormatRegistry.Set('acts', list => listOf(list).every(isAct))

export const actsOf = (setting = ''): Act[] => listOf(setting).filter(isAct)

const isAct = (text: string): text is Act => ACTS.some(act => act === text)
