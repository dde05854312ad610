// node test/support/failed-worker.ts: starts a worker whose gauges fail to start, then closes the pools that the worker used.
import { Gauge } from 'prom-client'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { openWatch } from '../../src/database/watch.ts'
import { watchPauses } from '../../src/engine/pause.ts'
import { openLedger } from '../../src/ledger/calls/client.ts'
import { openSlots } from '../../src/ledger/slots/slots.ts'
import { logger } from '../../src/log/log.ts'
import { openMetrics } from '../../src/ops/metrics.ts'
import { openTraces } from '../../src/ops/traces/open-traces.ts'
import { openQueue } from '../../src/queue/queue.ts'
import { startWorker } from '../../src/worker.ts'

const config = readConfig(process.env)
const url = config.DATABASE_URL
const options = { name: 'failed-worker', onError() {} }
const db = openDatabase(url, { ...options, max: 2 })
const boss = openQueue(url, { ...options, isWorker: true })
await boss.start()
const metrics = openMetrics()
// A name can be registered only once, and by then the loops of the payments have started.
new Gauge({ name: 'loanops_payment_lag_seconds', help: 'taken', registers: [metrics.registry] })
const ledger = openLedger(config)
const pauses = watchPauses(db, logger('silent'))
const services = {
  db,
  patient: db,
  boss,
  metrics,
  watch: openWatch(),
  log: logger('silent'),
  traces: await openTraces(config, logger('silent')),
  ledger,
  slots: openSlots(config.LEDGER_CONCURRENCY),
  pauses,
}
await startWorker(services, config).catch(error => console.log(error.message))
await pauses.stop()
await boss.stop({ graceful: false })
await ledger.close()
await db.destroy()
