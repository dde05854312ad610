import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { booksView } from './books-view.ts'
import { ruleOf } from './faults/rule.ts'
import type { Service } from './http/handle.ts'
import type { Rounding } from './money.ts'
import { productById } from './reference/products.ts'
import { emptyLedger } from './storage/ledger.ts'

export const CONTROL = '/control'

/** The API for tests; a real ledger has none. */
export async function control(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://sandbox')
  const sent = await text(request)
  try {
    const name = `${request.method} ${pathname.slice(CONTROL.length)}`
    const run = calls[name]
    if (!run)
      return answer(response, 404, {
        error: `No such call: ${name}. Calls: ${Object.keys(calls).join(', ')}`,
      })
    answer(response, 200, run(service, sent === '' ? undefined : JSON.parse(sent), searchParams))
  } catch (error) {
    answer(response, 400, { error: error instanceof Error ? error.message : String(error) })
  }
}

type ControlCall = (service: Service, sent: unknown, query: URLSearchParams) => unknown

const calls: Record<string, ControlCall> = {
  'GET /faults': ({ faults }) => faults.view(),
  // A list of rules, or {seed, rules}.
  'PUT /faults': ({ faults }, sent) => {
    const { rules, seed } = Array.isArray(sent) ? { rules: sent } : (sent as FaultSettings)
    faults.set((rules ?? []).map(ruleOf), seed)
    return faults.view()
  },
  'POST /faults': ({ faults }, sent) => {
    faults.add(ruleOf(sent))
    return faults.view()
  },
  'DELETE /faults': ({ faults }) => {
    faults.set([])
    return faults.view()
  },
  'GET /books': ({ ledger, traffic }, _, query) => ({
    ...booksView(ledger),
    log: ledger.log.after(Math.max(0, ledger.log.last - numberIn(query, 'log', 10_000)), 250_000),
    counters: traffic.view(),
  }),
  'GET /counters': ({ traffic }) => traffic.view(),
  'GET /log': ({ ledger }, _, query) => ({
    last: ledger.log.last,
    log: ledger.log.after(numberIn(query, 'after', 0), numberIn(query, 'limit', 10_000)),
  }),
  // {date: "2026-11-25"} fixes the business date, {…, isOff: true} leaves it behind switched off; null returns to the calendar.
  'PUT /business-date': ({ ledger }, sent) => {
    const { date, isOff = false } = sent as { date: string | null; isOff?: boolean }
    if (date !== null && !/^\d{4}-\d{2}-\d{2}$/.test(date))
      throw new Error('date must be YYYY-MM-DD')
    ledger.businessDate = date ?? undefined
    ledger.isBusinessDateOff = isOff
    void ledger.journal.append({ businessDate: date ?? '' })
    return { date }
  },
  // {product: 3, decimalPlaces: 0, inMultiplesOf: 0} sets the rounding for new loans of that product.
  'PUT /rounding': ({ ledger }, sent) => {
    const { product, decimalPlaces, inMultiplesOf } = sent as { product: number } & Rounding
    const found = productById(ledger, product)
    ledger.books.define('products', { ...found, rounding: { decimalPlaces, inMultiplesOf } })
    return sent
  },
  'POST /reset': ({ ledger, faults, traffic }) => {
    emptyLedger(ledger)
    faults.set([])
    traffic.reset()
    return {}
  },
}

type FaultSettings = { rules?: unknown[]; seed?: number }

function numberIn(query: URLSearchParams, name: string, otherwise: number): number {
  const number = Number(query.get(name) ?? otherwise)
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${name} must be a whole number`)
  return number
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
