import { createHash } from 'node:crypto'

/** Compares names so that sorting them gives each seed an order of its own. */
export function bySeed(seed: string) {
  const hashOf = (name: string) => createHash('sha256').update(`${seed} ${name}`).digest('hex')
  return (a: string, b: string) => (hashOf(a) < hashOf(b) ? -1 : 1)
}
