import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, callerOf } from '../access/caller.ts'
import type { CallFacts, Faults, Injection } from '../faults/faults.ts'
import type { FaultRule } from '../faults/rule.ts'
import { type Body, readBody, readList } from '../fields/body.ts'
import type { Ledger } from '../storage/ledger.ts'
import { type Answer, containerAnswer, refusalAnswer, tomcatAnswer } from './answer.ts'
import { authenticate } from './authentication.ts'
import { authenticatedUser, hasEncodedSlash, isForbiddenPath } from './gate.ts'
import { type CommandPlan, type Plan, subjectOf } from './plan.ts'
import { containerError, Refusal, standard } from './refusal.ts'
import { planOf } from './routes.ts'
import { type Call, FROM_STORE, runCommand } from './run-command.ts'
import type { Traffic } from './traffic.ts'
import type { Turns } from './turns.ts'
import { onlyFields } from './wire.ts'

export const API = '/fineract-provider/api/v1'

export type Service = {
  ledger: Ledger
  tenant: string
  faults: Faults
  traffic: Traffic
  turns: Turns
}

/** `cut` closes the connection without an answer; `hang` leaves it open. */
type Outcome = Answer | 'cut' | 'hang'

export async function handle(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const startMs = Date.now()
  const text = await textOf(request)
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  const pathname = mark < 0 ? url : url.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1))
  let leave: (() => void) | undefined
  const answered = (outcome: Outcome) => {
    if (outcome !== 'hang') leave?.()
    send(service, request, response, outcome)
  }
  try {
    if (hasEncodedSlash(pathname)) return answered(tomcatAnswer())
    if (isForbiddenPath(pathname)) throw containerError(400)
    const path = pathBelow(pathname)
    const method = request.method ?? 'GET'
    const arrival = { method, pathname, query, headers: request.headers }
    const user = authenticatedUser(service, arrival, path)
    const caller = user && callerOf(service.ledger, user)
    const plan = planFor(service, method, path, query, caller)
    refuseContentType(request, text)
    const key = headerOf(request, 'idempotency-key')
    const sentAsJson = (request.headers['content-type'] ?? '').includes('application/json')
    const call: Call = { path: pathname, caller, text, key, sentAsJson, startMs }
    const injection = injectionFor(service, request, plan, path, text)
    service.traffic.count('calls', plan.kind === 'command' ? plan.scope : plan.name)
    if (plan.kind === 'command') leave = enter(service, plan, call, response)
    const outcome = await outcomeOf(service, plan, call, injection, query)
    if (call.logged) call.logged.endMs = Date.now()
    answered(outcome)
  } catch (error) {
    if (!(error instanceof Refusal))
      process.emitWarning(error instanceof Error ? error : `${error}`)
    answered(refusalAnswer(error, pathname))
  }
}

async function outcomeOf(
  service: Service,
  plan: Plan,
  call: Call,
  injection: Injection,
  query: URLSearchParams,
): Promise<Outcome> {
  const { fault } = injection
  if (fault) service.traffic.count('faults', fault.kind)
  if (injection.delayBeforeMs + injection.delayAfterMs > 0)
    service.traffic.count('faults', 'latency')
  const instead = fault && insteadOf(plan, fault, call.path)
  if (instead) return instead
  const answer = await answerOf(service, plan, call, injection, query)
  if (answer.headers === FROM_STORE && answer.status !== 425) service.traffic.servedFromStore++
  if (fault?.kind === 'hang') return 'hang'
  if (fault?.kind === 'drop') return 'cut'
  if (fault?.kind === 'error') return containerAnswer(fault.status ?? 500, call.path)
  return answer
}

async function answerOf(
  { ledger, turns }: Service,
  plan: Plan,
  call: Call,
  injection: Injection,
  query: URLSearchParams,
): Promise<Answer> {
  if (plan.kind === 'command') return runCommand(ledger, turns, plan, call, injection)
  if (injection.delayBeforeMs > 0) await sleep(injection.delayBeforeMs)
  const body = bodyOf(plan, call.text)
  if (injection.delayAfterMs > 0) await sleep(injection.delayAfterMs)
  return { status: 200, text: JSON.stringify(onlyFields(body, query.get('fields'))) }
}

function bodyOf(plan: Exclude<Plan, CommandPlan>, text: string): unknown {
  if (plan.kind === 'query') return plan.run(readBody(text))
  return plan.kind === 'list' ? plan.run(readList(text)) : plan.run()
}

function insteadOf(plan: Plan, fault: FaultRule, path: string): Outcome | undefined {
  const { kind, status = 500 } = fault
  if (kind === 'reset') return 'cut'
  if (kind === 'hang' && !fault.applied) return 'hang'
  if (kind === 'unauthorized') return containerAnswer(401, path)
  if (kind === 'tooMany')
    return { ...containerAnswer(429, path), headers: { 'retry-after': fault.retryAfter ?? '1' } }
  if (kind === 'locked') {
    const message = 'Loan is locked by the COB job. Loan cannot be modified.'
    return refusalAnswer(standard(409, message, message, 'error.msg.loan.locked'), path)
  }
  const reachesLedger = fault.when === 'after' || (plan.kind === 'command' && status === 500)
  if (kind !== 'error' || reachesLedger) return undefined
  const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
  return { ...containerAnswer(status, path), headers }
}

function planFor(
  { ledger }: Service,
  method: string,
  path: string,
  query: URLSearchParams,
  caller: Caller | undefined,
): Plan {
  if (caller === undefined) {
    const run = (body: Body) => authenticate(ledger, body)
    return { kind: 'query', name: 'authentication', run }
  }
  if (path === 'authentication') throw containerError(405)
  return planOf(ledger, { method, path: namesIn(path), query, caller })
}

function namesIn(path: string): string[] {
  try {
    return path.replace(/\/$/, '').split('/').map(decodeURIComponent)
  } catch {
    throw containerError(400)
  }
}

function injectionFor(
  { faults }: Service,
  request: IncomingMessage,
  plan: Plan,
  path: string,
  text: string,
): Injection {
  const facts: CallFacts = {
    method: request.method ?? 'GET',
    path: `/${path}`,
    write: plan.kind === 'command',
    externalId: () => /external-id\/([^/]+)/.exec(path)?.[1] ?? externalIdIn(text),
  }
  try {
    return faults.injectionFor(facts, headerOf(request, 'x-sandbox-fault'))
  } catch (error) {
    throw new Refusal(400, 'X-Sandbox-Fault', { error: String(error) })
  }
}

function enter({ traffic }: Service, plan: CommandPlan, call: Call, response: ServerResponse) {
  const externalId = subjectOf(plan, { externalId: externalIdIn(call.text) })
  if (plan.of !== 'loan' || externalId === undefined) return undefined
  const leave = traffic.enter(externalId, { scope: plan.scope, key: call.key ?? null })
  // A caller that hangs up has left too. An answered one leaves before the answer is sent, so that its next
  // write never seems to overlap this one.
  response.on('close', leave)
  return leave
}

function send(
  { traffic }: Service,
  request: IncomingMessage,
  response: ServerResponse,
  outcome: Outcome,
): void {
  if (outcome === 'hang') return
  if (outcome === 'cut') {
    request.socket.destroy()
    return
  }
  traffic.count('answers', outcome.status)
  response.writeHead(outcome.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(outcome.text),
    ...outcome.headers,
  })
  response.end(outcome.text)
}

function refuseContentType(request: IncomingMessage, text: string): void {
  const type = request.headers['content-type']
  const isRead = request.method === 'GET' || request.method === 'DELETE'
  if (isRead || text === '' || type === undefined) return
  if (!/^application\/(json|\*)/i.test(type)) throw containerError(415)
}

function pathBelow(pathname: string): string {
  if (!pathname.startsWith(`${API}/`)) throw containerError(404)
  return pathname.slice(API.length + 1)
}

function externalIdIn(text: string): string | undefined {
  const quoted = /"externalId"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return quoted === undefined ? undefined : JSON.parse(quoted)
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
