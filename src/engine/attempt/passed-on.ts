import type { Claim } from '../claim/claim.ts'

/** Values that one operation on a subject tells the next one, so that the next one need not read them. */
export type PassedOn = {
  leave(claim: Claim, value: unknown): void
  /** @returns what the operation accepted directly before this one left, if it ran just before it; otherwise undefined */
  take(claim: Claim): unknown
}

export function openPassedOn(): PassedOn {
  let left: { seq: bigint; value: unknown } | undefined

  return {
    leave({ seq }, value) {
      left = { seq: BigInt(seq), value }
    },
    take({ seq }) {
      // Another worker may have run other operations on the subject meanwhile, but none between consecutive numbers.
      const value = left !== undefined && left.seq + 1n === BigInt(seq) ? left.value : undefined
      left = undefined
      return value
    },
  }
}
