import type { Claim } from '../claim/claim.ts'

export type PassedOn = ReturnType<typeof openPassedOn>

/** Values that one operation on a subject tells the next one, so that the next one need not read them. */
export function openPassedOn() {
  let left: { seq: bigint; value: unknown } | undefined

  return {
    leave({ seq }: Claim, value: unknown): void {
      left = { seq: BigInt(seq), value }
    },
    /** @returns what the operation accepted directly before this one left, if it ran just before it; otherwise undefined */
    take({ seq }: Claim): unknown {
      // Another worker may have run other operations on the subject meanwhile, but none between consecutive numbers.
      const value = left !== undefined && left.seq + 1n === BigInt(seq) ? left.value : undefined
      left = undefined
      return value
    },
  }
}
