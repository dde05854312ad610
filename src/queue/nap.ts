/** A rest between two looks, which may be ended early. */
export type Nap = {
  rest(ms: number): Promise<void>
  /** Ends the rest; who is awake does not rest the next time. */
  wake(): void
}

export function openNap(): Nap {
  let isWoken = false
  let end: () => void = () => undefined
  return {
    async rest(ms) {
      if (!isWoken) {
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, ms)
          end = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      isWoken = false
    },
    wake() {
      isWoken = true
      end()
    },
  }
}
