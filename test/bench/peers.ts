// Operations per second from the first submission to the last one that is final, against pg-boss's send and work and
// graphile-worker's addJob and task behind the same endpoint, one after the other on the same PostgreSQL and the same ledger,
// which answers at once.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'
import { openStage, type Running } from './stage.ts'

const RUNS = Number(process.argv[2] ?? 3)
const LOAD = { connections: 64, seconds: 5, warmUpSeconds: 1 }
const ASK_EVERY_MS = 50

const stage = await openStage()
const CHANGES = { LEDGER_CONCURRENCY: '8' }
const candidates = {
  LoanOps: { start: () => stage.run('all', CHANGES), open: openOperations },
  'pg-boss': peer('pg-boss'),
  'graphile-worker': peer('graphile-worker'),
}
const figures = Object.keys(candidates).map(() => ({
  accepted: [] as number[],
  final: [] as number[],
}))
for (let run = 1; run <= RUNS; run++)
  for (const [i, [name, { start, open }]] of Object.entries(candidates).entries()) {
    const service = await start()
    const since = performance.now()
    const { perSecond, accepted } = await fire(service.url, newClients(`P-${name}-${run}`), LOAD)
    while ((await open(service, accepted)) > 0) await sleep(ASK_EVERY_MS)
    figures[i]?.accepted.push(perSecond)
    figures[i]?.final.push(Math.round(accepted / ((performance.now() - since) / 1_000)))
    await service.stop()
  }
for (const [i, name] of Object.keys(candidates).entries()) {
  const { accepted, final } = figures[i] ?? { accepted: [], final: [] }
  console.log(
    `${name}: accepted ${median(accepted)}/s (${accepted.join(', ')}), final ${median(final)}/s (${final.join(', ')})`,
  )
}
await stage.close()

function peer(name: string) {
  return {
    start: () => stage.run('all', { ...CHANGES, PEER: name }, 'test/bench/peer-server.ts'),
    open: async ({ url }: Running, accepted: number) =>
      accepted - Number(await (await fetch(`${url}/done`)).text()),
  }
}

async function openOperations(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from loanops.operation
     where status = 'processing'`.execute(stage.db)
  return rows[0]?.count ?? 0
}
