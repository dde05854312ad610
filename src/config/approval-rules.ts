import { FormatRegistry } from '@sinclair/typebox'
import { ACTS, type Act } from './acts.ts'
import { listOf } from './settings/setting-formats.ts'

/** Which act a second person must approve, and above which amount; null: whatever the amount. */
export type ApprovalRule = { act: Act; above: string | null }

FormatRegistry.Set('approvals', list => listOf(list).every(one => ruleOf(one).length === 1))

export const approvalRules = (setting = ''): ApprovalRule[] => listOf(setting).flatMap(ruleOf)

function ruleOf(text: string): ApprovalRule[] {
  const [, name, above = null] = /^([a-z.]+)(?:\s*>\s*(\d{1,13}(?:\.\d{1,2})?))?$/.exec(text) ?? []
  return ACTS.filter(act => act === name).map(act => ({ act, above }))
}
