/**
 * Tells parts with equal ids apart: the id of each after the first one that is listed gets a number. Each of several files
 * that were joined begins anew: what two of them list is one part.
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
