/** A page may have some megabytes. */
const MAX_PAGES_AHEAD = 4

/** Yields all pages that have arrived since the last time, so that a slow consumer stores several per transaction. */
export async function* fetchAhead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T[]> {
  let fetched: T[] = []
  let isOver = false
  // Either side waits only for the other, so one waiter is enough.
  let wake = () => {}
  const change = () => new Promise<void>(resolve => (wake = resolve))

  const fetching = (async () => {
    try {
      for await (const page of pages) {
        fetched.push(page)
        wake()
        if (fetched.length >= MAX_PAGES_AHEAD) await change()
      }
    } finally {
      isOver = true
      wake()
    }
  })()
  // The consumer gets a failure when it asks for the next pages.
  fetching.catch(() => undefined)
  try {
    for (;;) {
      if (fetched.length === 0 && !isOver) await change()
      if (fetched.length === 0) return await fetching
      const batch = fetched
      fetched = []
      wake()
      yield batch
    }
  } finally {
    // The return is not awaited, because nobody wants the page under way any more.
    void pages.return(undefined)
    wake()
  }
}
