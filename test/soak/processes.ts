import { cpuTimeMs } from '../bench/cpu-time.ts'
import type { Place } from '../chaos/cluster.ts'
import type { Installation } from './installation.ts'

export type Memory = { role: string; heap: number; resident: number }

/** What a process says of its own memory. */
export async function memoryOf({ role, url }: Place): Promise<Memory> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const value = (name: string) => Number(RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
  return {
    role,
    heap: value('nodejs_heap_size_used_bytes'),
    resident: value('process_resident_memory_bytes'),
  }
}

/** The CPU time that each process has used so far, in milliseconds; PostgreSQL's with its children. */
export function cpuSoFar({ places, postgresPid }: Installation): Map<string, number> {
  const ours = places.map(
    ({ role, service }) => [role, cpuTimeMs(service.child.pid as number)] as const,
  )
  return new Map([...ours, ['PostgreSQL', cpuTimeMs(postgresPid)]])
}
