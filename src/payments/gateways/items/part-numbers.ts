/**
 * Tells parts with equal ids apart: within a list, the second one and those after it get a number. If files were joined,
 * each of them restarts, because what two of them list is one part.
 */
export function partNumbers() {
  const times = new Map<string, number>()
  return (settlementId: string, id: string, file = 0): string => {
    const key = JSON.stringify([settlementId, id, file])
    const number = (times.get(key) ?? 0) + 1
    times.set(key, number)
    return number === 1 ? id : `${id} #${number}`
  }
}
