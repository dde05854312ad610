// Replays recorded transcripts against a ledger and reports where its answers differ. What is compared:
// status and x-served-from-cache; for an error its fields, codes with their parameters, public
// messages (ignoring digits) and httpStatusCode; for a write its fields and `changes`; for a read the
// values at the paths in `compare`. Ids differ from run to run and are not compared.
import { createHash, randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

type Any = any

export type Step = {
  what: string
  request: {
    method: string
    path: string
    headers?: Record<string, string | null>
    body?: unknown
    text?: string
  }
  bind?: Record<string, string>
  compare?: string[]
  loosely?: boolean
  response: { status: number; headers: Record<string, string>; body?: Any }
}

export type Transcript = { name: string; steps: Step[] }

export type LedgerAddress = {
  url: string
  username?: string | undefined
  password?: string | undefined
  tenant?: string | undefined
}

type Reply = { status: number; headers: Record<string, string | null>; body: Any }

type Names = Record<string, Any> & { run: string; digits: string; day: string }

/** The differences of each step; empty for a step that agrees. */
export async function replay(ledger: LedgerAddress, transcript: Transcript): Promise<string[][]> {
  const run = randomBytes(5).toString('hex')
  const digits = String(Number.parseInt(run, 16) % 1e10).padStart(10, '0')
  const names: Names = { run, digits, day: today() }
  const differences: string[][] = []
  for (const step of transcript.steps) {
    try {
      const reply = await send(ledger, step.request, names)
      for (const [name, path] of Object.entries(step.bind ?? {})) names[name] = at(reply.body, path)
      differences.push(compare(step, reply, names))
    } catch (error) {
      differences.push([String(error)])
    }
  }
  return differences
}

async function send(ledger: LedgerAddress, request: Step['request'], names: Names): Promise<Reply> {
  const { username = 'mifos', password = 'password', tenant = 'default' } = ledger
  const sent: Record<string, string | null> = {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'fineract-platform-tenantid': tenant,
    ...(request.body === undefined && request.text === undefined
      ? {}
      : { 'content-type': 'application/json' }),
    ...(fill(request.headers ?? {}, names) as Record<string, string | null>),
  }
  const headers = Object.fromEntries(
    Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== null),
  )
  const filled = request.body === undefined ? undefined : JSON.stringify(fill(request.body, names))
  const payload = request.text === undefined ? filled : String(fill(request.text, names))
  const response = await fetch(ledger.url + fill(request.path, names), {
    method: request.method,
    headers,
    // The body is bytes, because fetch would add its own content type to a string.
    ...(payload === undefined ? {} : { body: Buffer.from(payload) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: {
      'x-served-from-cache': response.headers.get('x-served-from-cache'),
      'www-authenticate': response.headers.get('www-authenticate'),
    },
    body: text === '' ? undefined : parsed(text),
  }
}

function compare(step: Step, reply: Reply, names: Names): string[] {
  const recorded = step.response
  const body = unnamed(reply.body, names)
  const out: string[] = []
  const check = (what: string, a: unknown, b: unknown) => {
    if (!isDeepStrictEqual(a, b)) out.push(`${what}: recorded ${show(a)}, answered ${show(b)}`)
  }
  check('status', recorded.status, reply.status)
  if (out.length > 0) return [...out, `answered body ${show(body)}`]
  if (step.loosely) return out
  const header = (name: string) => check(name, recorded.headers[name] ?? null, reply.headers[name])
  header('x-served-from-cache')
  if (recorded.status === 401) header('www-authenticate')
  if (recorded.status >= 400) {
    check('fields', fields(recorded.body), fields(body))
    check('codes', codes(recorded.body), codes(body))
    check('messages', messages(recorded.body), messages(body))
    check('httpStatusCode', recorded.body?.httpStatusCode, body?.httpStatusCode)
  } else if (step.request.method !== 'GET') {
    check('fields', fields(recorded.body), fields(body))
    check('changes', values(recorded.body?.changes), values(body?.changes))
  }
  for (const path of step.compare ?? [])
    check(path, values(at(recorded.body, path)), values(at(body, path)))
  return out
}

function fill(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map(element => fill(element, names))
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, fill(v, names)]))
  }
  if (typeof value !== 'string') return value
  const whole = /^\{\{([^}]+)\}\}$/.exec(value)?.[1]
  if (whole !== undefined) return lookUp(whole, names)
  return value.replace(/\{\{([^}]+)\}\}/g, (_, name) => String(lookUp(name, names)))
}

function lookUp(name: string, names: Names): unknown {
  const day = /^today([+-]\d+)?$/.exec(name)
  if (day) {
    const date = new Date(`${today()}T00:00:00Z`)
    date.setUTCDate(date.getUTCDate() + Number(day[1] ?? 0))
    return date.toISOString().slice(0, 10)
  }
  if (name.startsWith('key:')) {
    return `k-${createHash('sha256')
      .update(names.run + name)
      .digest('hex')
      .slice(0, 32)}`
  }
  if (!(name in names)) throw new Error(`no earlier step bound {{${name}}}`)
  return names[name]
}

function today(): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(new Date())
}

/**
 * `errors.0.code`; `name=LENDER_01.id` is the id of the element whose name is LENDER_01;
 * `periods.*.dueDate` is every period's dueDate.
 */
function at(from: Any, path: string): Any {
  const [part = '', ...rest] = path.split('.')
  const value = typeof from === 'string' ? parsed(from) : from
  const below = rest.join('.')
  if (part === '*') {
    if (!Array.isArray(value)) return undefined
    return value.map(element => (below ? at(element, below) : element))
  }
  const wanted = /^(\w+)=(.*)$/.exec(part)
  const found =
    wanted && Array.isArray(value)
      ? value.find(element => String(element?.[wanted[1] ?? '']) === wanted[2])
      : value?.[part]
  return below ? at(found, below) : found
}

/** Replaces the run's ids and the day with their names, so that two runs can be compared. */
function unnamed(value: Any, names: Names): Any {
  if (typeof value === 'string') {
    if (value === names.day) return '{{today}}'
    return value.replaceAll(names.run, '{{run}}').replaceAll(names.digits, '{{digits}}')
  }
  if (Array.isArray(value)) {
    if (value.join() === names.day.split('-').map(Number).join()) return '{{today}}'
    return value.map(element => unnamed(element, names))
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, unnamed(v, names)]))
}

function fields(value: Any): unknown {
  if (value === null || typeof value !== 'object') return typeof value
  return Object.keys(value)
    .filter(name => value[name] !== null)
    .sort()
}

function codes(body: Any): unknown {
  if (body === null || typeof body !== 'object') return undefined
  const errors = (body.errors ?? []).map(
    (error: Any) => `${error.userMessageGlobalisationCode} ${error.parameterName ?? ''}`,
  )
  return [body.userMessageGlobalisationCode, ...errors.sort()]
}

/** Messages contain ids, so digits are ignored, and so is the wording of a JSON parser. */
function messages(body: Any): unknown {
  if (body === null || typeof body !== 'object') return undefined
  const errors = (body.errors ?? []).map((error: Any) => error.defaultUserMessage)
  return [body.defaultUserMessage, ...errors.sort()].map(message =>
    message?.replace(/: (java|com)\.[\s\S]*/, '').replace(/\{\{(run|digits)\}\}|\d+/g, '#'),
  )
}

function values(value: Any): Any {
  if (typeof value === 'number') return Math.round(value * 1e6) / 1e6
  if (Array.isArray(value)) return value.map(values)
  if (value === null || typeof value !== 'object') return value
  const isId = (name: string) => /[a-z]Id$/.test(name) || (name === 'id' && !('code' in value))
  const members = Object.entries(value)
    .filter(([, member]) => member !== null)
    .map(([name, member]) => [
      name,
      typeof member === 'number' && isId(name) ? 'an id' : values(member),
    ])
  return Object.fromEntries(members.sort())
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
