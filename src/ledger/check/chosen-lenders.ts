import type { Lender } from '../../config/lenders.ts'

/** The lenders that are wanted, or all of them where none is. */
export function chosenLenders(
  lenders: ReadonlyMap<string, Lender>,
  isWanted: (lender: Lender) => boolean,
): Lender[] {
  const all = [...lenders.values()]
  const wanted = all.filter(isWanted)
  return wanted.length > 0 ? wanted : all
}
