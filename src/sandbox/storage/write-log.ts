export type LoggedWrite = {
  sequence: number
  command: string
  externalId: string | null
  idempotencyKey: string | null
  at: string
  startMs: number
  endMs: number | null
}

/** A run with more writes reads the log page by page as it goes. */
const MAX_WRITES = 250_000

/** Only those that took effect, in order. */
export class WriteLog {
  readonly #writes: LoggedWrite[] = []
  #first = 0
  #sequence = 0

  add(write: Omit<LoggedWrite, 'sequence'>): LoggedWrite {
    const logged = { sequence: ++this.#sequence, ...write }
    this.restore(logged)
    return logged
  }

  restore(write: LoggedWrite): void {
    this.#writes.push(write)
    this.#sequence = Math.max(this.#sequence, write.sequence)
    if (this.#writes.length - this.#first <= MAX_WRITES) return
    this.#first++
    // Compacting the array now and then is cheaper than shifting it each time.
    if (this.#first < MAX_WRITES / 4) return
    this.#writes.splice(0, this.#first)
    this.#first = 0
  }

  get last(): number {
    return this.#sequence
  }

  after(sequence: number, limit: number): LoggedWrite[] {
    const oldest = this.#writes[this.#first]?.sequence ?? 0
    const start = this.#first + Math.max(0, sequence + 1 - oldest)
    return this.#writes.slice(start, start + limit)
  }

  *everything(): Generator<{ write: LoggedWrite }> {
    for (const write of this.#writes.slice(this.#first)) yield { write }
  }
}
