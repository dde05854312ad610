// Loaded first by a process whose clock differs: `NODE_OPTIONS=--import=./test/support/shifted-clock.ts`.
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0)
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + aheadMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + aheadMs
  }
} as DateConstructor
