import type { Claim } from './claim.ts'

/** What an operation hands on to the next one of its subject. */
export type HandOver = {
  leave(claim: Claim, value: unknown): void
  /** @returns undefined unless the operation just before this one left it, and nothing was accepted between the two */
  take(claim: Claim): unknown
}

/** For the operations of one subject that one worker runs in a row. */
export function openHandOver(): HandOver {
  let left: { seq: bigint; value: unknown } | undefined

  return {
    leave({ seq }, value) {
      left = { seq: BigInt(seq), value }
    },
    take({ seq }) {
      // Another worker may have run others of the subject meanwhile, but none between consecutive numbers.
      const value = left !== undefined && left.seq + 1n === BigInt(seq) ? left.value : undefined
      left = undefined
      return value
    },
  }
}
