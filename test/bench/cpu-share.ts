import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** The layer of a frame, by the path of its code; any other frame belongs to its caller's layer. */
const LAYERS: [RegExp, string][] = [
  [/\/(undici)\/|\/src\/ledger\//, 'ledger client'],
  [/\/pg-boss\//, 'pg-boss'],
  [/\/(pg|pg-[a-z-]+|kysely|postgres-[a-z]+)\//, 'SQL'],
  [/\/(ajv|fast-uri|@sinclair)\/|validator\.ts|json-strictness\.ts|\/validate\.ts/, 'validation'],
  [
    /\/(fastify|@fastify|find-my-way|light-my-request|avvio|fast-json-stringify|secure-json-parse|pino)\/|node:_?http/,
    'HTTP',
  ],
  [/\/src\//, 'our own code'],
]

/** Each layer's share of the CPU time, without idle time, of the process that wrote its profile into the folder. */
export function cpuShares(folder: string): string {
  const file = readdirSync(folder).find(name => name.endsWith('.cpuprofile'))
  const profile = JSON.parse(readFileSync(resolve(folder, String(file)), 'utf8')) as Profile
  const layerOf = layers(profile)
  const spent = new Map<string, number>()
  for (const [i, id] of profile.samples.entries()) {
    const layer = layerOf.get(id) ?? 'Node itself'
    spent.set(layer, (spent.get(layer) ?? 0) + (profile.timeDeltas[i] ?? 0))
  }
  spent.delete('idle')
  const total = [...spent.values()].reduce((sum, one) => sum + one, 0)
  return [...spent]
    .sort(([, a], [, b]) => b - a)
    .map(([layer, us]) => `${layer} ${Math.round((100 * us) / total)} %`)
    .join(', ')
}

function layers({ nodes }: Profile): Map<number, string> {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const found = new Map<number, string>()
  const visit = (id: number, callers: string) => {
    const node = byId.get(id)
    if (node === undefined) return
    const layer = ownLayer(node.callFrame) ?? callers
    found.set(id, layer)
    for (const child of node.children ?? []) visit(child, layer)
  }
  if (nodes[0]) visit(nodes[0].id, 'Node itself')
  return found
}

function ownLayer({ functionName, url }: { functionName: string; url: string }) {
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(idle)') return 'idle'
  return LAYERS.find(([place]) => place.test(url))?.[1]
}
