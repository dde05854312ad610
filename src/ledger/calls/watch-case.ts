import { Gauge, type Registry } from 'prom-client'
import type { Log } from '../../log/log.ts'
import type { Ledger } from './client.ts'

/** A loan or client that is asked for by its external id, and not a part of it. */
const ASKED_BY_EXTERNAL_ID = /^\/(?:loans|clients)\/external-id\/([^/?]+)(?:\?|$)/

/**
 * To us, ids that differ only in case are different loans, so their writes may overlap. A ledger whose database ignores
 * case shows it by answering with another spelling than the one that was asked for.
 */
export function watchCase(registry: Registry, ledger: Ledger, log: Pick<Log, 'warn'>): void {
  const ignored = new Gauge({
    name: 'loanops_ledger_ignores_case',
    help: '1 once the ledger has answered with an external id that differs in case from the one asked for',
    registers: [registry],
  })
  let isKnown = false
  ledger.onAnswer(({ method, path, outcome, body }) => {
    const [, asked] = (method === 'GET' && ASKED_BY_EXTERNAL_ID.exec(path)) || []
    if (isKnown || asked === undefined || outcome !== 'done') return
    const { externalId } = body as { externalId?: unknown }
    if (typeof externalId !== 'string' || !isSameButForCase(externalId, asked)) return
    isKnown = true
    ignored.set(1)
    log.warn(
      {},
      'the ledger ignores case in external ids: give each loan and client one spelling, as writes under two of them may overlap',
    )
  })
}

function isSameButForCase(externalId: string, asked: string): boolean {
  const id = decodeURIComponent(asked)
  return externalId !== id && externalId.toLowerCase() === id.toLowerCase()
}
