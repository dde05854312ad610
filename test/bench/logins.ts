import { ADMIN } from '../support/admin.ts'
import { clientData } from '../support/loans.ts'
import { caller } from '../support/service.ts'
import { fire } from './fire.ts'
import { median } from './median.ts'
import type { Stage } from './stage.ts'

const LOGINS_AT_ONCE = 20
const RUNS = 3
const TIMES = { connections: 8, seconds: 5, warmUpSeconds: 1 }

/** Logins per second, and what callers of operate notice of them. */
export async function benchLogins(stage: Stage): Promise<void> {
  const service = await stage.run('api', {
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  })
  const figures = { alone: [] as number[], beside: [] as number[] }
  const p99 = { alone: [] as number[], beside: [] as number[] }
  const perSecond: number[] = []
  for (let run = 1; run <= RUNS; run++) {
    const alone = await fire(service.url, body(`G${run}`), TIMES)
    const logins = logIn(service.url)
    const beside = await fire(service.url, body(`H${run}`), TIMES)
    perSecond.push(await logins.stop())
    for (const [name, { p95, p99: slowest }] of Object.entries({ alone, beside })) {
      figures[name as 'alone'].push(p95)
      p99[name as 'alone'].push(slowest)
    }
  }
  const [alone, beside] = [median(figures.alone), median(figures.beside)]
  console.log(
    `operate beside ${LOGINS_AT_ONCE} logins at once (${median(perSecond)} logins/s): p95 ${alone} → ${beside} ms ` +
      `(ratio ${(beside / alone).toFixed(2)}), p99 ${median(p99.alone)} → ${median(p99.beside)} ms`,
  )
  await service.stop()
}

/** Loops that log in one after the other until they are stopped. */
function logIn(url: string): { stop(): Promise<number> } {
  const call = caller(url)
  const from = performance.now()
  let isOver = false
  let done = 0
  const loops = Array.from({ length: LOGINS_AT_ONCE }, async () => {
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

const body = (name: string) => (n: number) => ({
  status: 'CLIENT_CREATE',
  data: clientData(`C-${name}-${n}`),
})
