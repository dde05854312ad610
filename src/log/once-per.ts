/** Whether a key comes for the first time in `ms`: what anybody may cause any number of times must not fill the log. */
export function oncePer(ms: number): (key: string) => boolean {
  const quietUntil = new Map<string, number>()
  return key => {
    const now = performance.now()
    if (now < (quietUntil.get(key) ?? 0)) return false
    for (const [other, end] of quietUntil) if (end <= now) quietUntil.delete(other)
    quietUntil.set(key, now + ms)
    return true
  }
}
