// CPU time per request of each layer between the socket and the database: the difference that it makes to a server with all
// layers before it.
import { costSoFar } from './cost.ts'
import { fire, newClients } from './fire.ts'
import { median } from './median.ts'
import type { Stage } from './stage.ts'

export const HTTP_LAYERS = [
  'strict JSON',
  'validation',
  'serialization',
  'problems',
  'safe headers',
  'tokens',
  'metrics',
] as const
export type HttpLayer = (typeof HTTP_LAYERS)[number]

const RUNS = 3
const LOAD = { connections: 32, seconds: 1.5, warmUpSeconds: 0.5 }

export async function benchHttpLayers(stage: Stage): Promise<void> {
  const servers = await Promise.all(
    [0, ...HTTP_LAYERS.keys().map(n => n + 1)].map(layers =>
      stage.run('api', { LAYERS: String(layers) }, 'test/bench/http-layer-server.ts'),
    ),
  )
  const figures = servers.map(() => [] as number[])
  for (let run = 0; run < RUNS; run++)
    for (const [n, server] of servers.entries()) {
      const before = await costSoFar(stage, server)
      const { accepted } = await fire(server.url, newClients(`layers-${run}-${n}`), LOAD)
      const { service } = await costSoFar(stage, server)
      figures[n]?.push(((service - before.service) * 1_000) / accepted)
    }
  const micros = figures.map(median)
  const added = HTTP_LAYERS.map(
    (layer, n) => `${layer} ${Math.round((micros[n + 1] ?? 0) - (micros[n] ?? 0))}`,
  )
  console.log(
    `CPU of HTTP per request, in µs: Fastify ${Math.round(micros[0] ?? 0)}, ${added.join(', ')}; together ${Math.round(micros.at(-1) ?? 0)}`,
  )
  await Promise.all(servers.map(({ stop }) => stop()))
}
