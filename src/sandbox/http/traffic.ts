export type Overlap = {
  externalId: string
  commands: [string, string]
  idempotencyKeys: [string | null, string | null]
  atMs: number
}

type Write = { scope: string; key: string | null }

const OVERLAPS_SHOWN = 100

/** Counts calls, and records when two writes to one loan overlap. */
export class Traffic {
  calls: Record<string, number> = {}
  answers: Record<number, number> = {}
  faults: Record<string, number> = {}
  overlapping: Overlap[] = []
  servedFromStore = 0
  overlaps = 0
  overlapsOfSameKey = 0
  readonly #underWay = new Map<string, Set<Write>>()

  count(counter: 'calls' | 'answers' | 'faults', name: string | number): void {
    const counts: Record<string | number, number> = this[counter]
    counts[name] = (counts[name] ?? 0) + 1
  }

  reset(): void {
    this.calls = {}
    this.answers = {}
    this.faults = {}
    this.overlapping = []
    this.servedFromStore = 0
    this.overlaps = 0
    this.overlapsOfSameKey = 0
  }

  // Returns a function to call when the write is answered or its caller hangs up.
  enter(externalId: string, write: Write): () => void {
    const others = this.#underWay.get(externalId) ?? new Set()
    for (const other of others) this.#overlap(externalId, other, write)
    others.add(write)
    this.#underWay.set(externalId, others)
    return () => {
      others.delete(write)
      if (others.size === 0 && this.#underWay.get(externalId) === others)
        this.#underWay.delete(externalId)
    }
  }

  view() {
    const { calls, answers, faults, servedFromStore, overlaps, overlapsOfSameKey } = this
    const { overlapping } = this
    return { calls, answers, faults, servedFromStore, overlaps, overlapsOfSameKey, overlapping }
  }

  // A repeat with the same key is not a second write.
  #overlap(externalId: string, first: Write, second: Write): void {
    if (first.key !== null && first.key === second.key && first.scope === second.scope) {
      this.overlapsOfSameKey++
      return
    }
    this.overlaps++
    if (this.overlapping.length >= OVERLAPS_SHOWN) this.overlapping.shift()
    this.overlapping.push({
      externalId,
      commands: [first.scope, second.scope],
      idempotencyKeys: [first.key, second.key],
      atMs: Date.now(),
    })
  }
}
