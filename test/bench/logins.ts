import { ADMIN } from '../support/accounts/admin.ts'
import { caller } from '../support/service.ts'
import { type Fired, fire, newClients } from './fire.ts'
import { median } from './median.ts'
import type { Stage } from './stage.ts'

const CONCURRENT_LOGINS = 20
const RUNS = 3
const TIMES = { connections: 8, seconds: 5, warmUpSeconds: 1 }

/** Logins per second, and their effect on callers of operate. */
export async function benchLogins(stage: Stage): Promise<void> {
  const service = await stage.run('api', {
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  })
  const alone: Fired[] = []
  const during: Fired[] = []
  const perSecond: number[] = []
  for (let run = 1; run <= RUNS; run++) {
    alone.push(await fire(service.url, newClients(`G${run}`), TIMES))
    const logins = logIn(service.url)
    during.push(await fire(service.url, newClients(`H${run}`), TIMES))
    perSecond.push(await logins.stop())
  }
  const of = (runs: Fired[], part: 'p95' | 'p99') => median(runs.map(run => run[part]))
  const ratio = of(during, 'p95') / of(alone, 'p95')
  console.log(
    `operate during ${CONCURRENT_LOGINS} concurrent logins (${median(perSecond)} logins/s): ` +
      `p95 ${of(alone, 'p95')} → ${of(during, 'p95')} ms (ratio ${ratio.toFixed(2)}), ` +
      `p99 ${of(alone, 'p99')} → ${of(during, 'p99')} ms`,
  )
  await service.stop()
}

/** Loops that keep logging in until they are stopped. */
function logIn(url: string): { stop(): Promise<number> } {
  const call = caller(url)
  const from = performance.now()
  let isOver = false
  let done = 0
  const loops = Array.from({ length: CONCURRENT_LOGINS }, async () => {
    while (!isOver) {
      const { status } = await call('POST', '/api/account/login', ADMIN)
      if (status !== 200) throw new Error(`a login got ${status}`)
      done++
    }
  })
  return {
    async stop() {
      isOver = true
      await Promise.all(loops)
      return Math.round(done / ((performance.now() - from) / 1_000))
    },
  }
}
