import type { Body } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'

export type Request = {
  method: string
  // Below /api/v1, decoded.
  path: string[]
  query: URLSearchParams
}

export type Router = (ledger: Ledger, request: Request) => Plan

/**
 * What a request asks for. What its URL names is looked up while the plan is made: a 404 or an
 * unknown command is told before the command, and so before its key, is looked at.
 */
export type Plan = ReadPlan | QueryPlan | CommandPlan

export type ReadPlan = {
  kind: 'read'
  name: string
  run(): unknown
}

/** A POST that stores nothing. */
export type QueryPlan = {
  kind: 'query'
  name: string
  run(body: Body): unknown
}

export type CommandPlan = {
  kind: 'command'
  // Action and entity, within which an Idempotency-Key is unique.
  scope: string
  of?: 'loan' | 'client'
  // The external id of what is there already; a create has it in its body.
  externalId?: string | undefined
  bodyless?: boolean
  run(body: Body): object
}

export function read(name: string, run: () => unknown): ReadPlan {
  return { kind: 'read', name, run }
}

export function command(scope: string, run: (body: Body) => object): CommandPlan {
  return { kind: 'command', scope, run }
}
