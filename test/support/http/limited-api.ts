import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { buildApi } from '../../../src/api.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openWatch } from '../../../src/database/watch.ts'
import type { httpLimits } from '../../../src/http/limits.ts'
import { openLedger } from '../../../src/ledger/calls/client.ts'
import { openSlots } from '../../../src/ledger/slots/slots.ts'
import { logger } from '../../../src/log/log.ts'
import { openMetrics } from '../../../src/ops/metrics.ts'
import { listenForOps } from '../../../src/ops/ops-port.ts'
import { openTraces } from '../../../src/ops/traces/open-traces.ts'
import { openQueue } from '../../../src/queue/queue.ts'
import { freshDatabase } from '../database/fresh-database.ts'
import { NO_LEDGER, TOKEN, testEnv } from '../service.ts'

/** Role api with other limits than the service's. */
export async function startLimited(
  t: Test,
  limits: typeof httpLimits,
  changes: NodeJS.ProcessEnv = {},
  log = logger('silent'),
): Promise<string> {
  const { db, url } = await freshDatabase(t)
  const config = readConfig(testEnv(url, NO_LEDGER, { ROLE: 'api', ...changes }))
  const boss = openQueue(url, { isWorker: false, name: 'test', onError() {} })
  await boss.start()
  t.teardown(() => boss.stop({ graceful: false }))
  const services = {
    db,
    boss,
    metrics: openMetrics(),
    watch: openWatch(),
    traces: await openTraces(config, logger('silent')),
    ledger: openLedger(config),
    slots: openSlots(config.LEDGER_CONCURRENCY),
    health: async () => ({
      status: 'ready' as const,
      version: 'for tests',
      database: 'ok' as const,
      queue: 'ok' as const,
      stuck: [],
      ledger: { waiting_for: [], pause: null, in_front: null, findings: [] },
      callbacks: null,
    }),
  }
  const app = await buildApi(services, config, log, limits)
  t.teardown(() => app.close())
  if (config.OPS_PORT !== undefined)
    await listenForOps(app, { host: '127.0.0.1', port: config.OPS_PORT })
  return app.listen({ port: 0, host: '127.0.0.1' })
}

export function connected(port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve(socket))
    socket.on('error', reject)
  })
}

export function answerOn(socket: Socket, path = '/healthz'): Promise<string> {
  return new Promise(resolve => {
    socket.once('data', chunk => resolve(String(chunk)))
    socket.once('close', () => resolve(''))
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-internal-token: ${TOKEN}\r\n\r\n`)
  })
}
