import type { Caller } from '../access/caller.ts'
import type { Body } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'

export type Request = {
  method: string
  // The steps of the path below /api/v1, decoded.
  path: string[]
  query: URLSearchParams
  caller: Caller
}

export type Router = (ledger: Ledger, request: Request) => Plan

/**
 * Whatever the URL names is looked up while planning: as in Fineract, a 404 or an unknown command is
 * answered before the command and its idempotency key are considered.
 */
export type Plan = ReadPlan | QueryPlan | ListPlan | CommandPlan

type ReadPlan = { kind: 'read'; name: string; run(): unknown }

/** A POST that stores nothing. */
type QueryPlan = { kind: 'query'; name: string; run(body: Body): unknown }

type ListPlan = { kind: 'list'; name: string; run(items: Body[]): unknown }

export type CommandPlan = {
  kind: 'command'
  // Action and entity; an Idempotency-Key is unique within them.
  scope: string
  of?: 'loan' | 'client'
  // The external id of the existing entity; a create has it in its body.
  externalId?: string | undefined
  bodyless?: boolean
  // A second person has approved it, so it waits for nobody.
  isApproved?: boolean
  run(body: Body): object
}

export function read(name: string, run: () => unknown): ReadPlan {
  return { kind: 'read', name, run }
}

export function command(scope: string, run: (body: Body) => object): CommandPlan {
  return { kind: 'command', scope, run }
}

export function subjectOf(plan: CommandPlan, body: Body): string | undefined {
  const { externalId } = body
  return plan.externalId ?? (typeof externalId === 'string' ? externalId : undefined)
}
