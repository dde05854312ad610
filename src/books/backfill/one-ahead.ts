/** Fetches the next page while the current one is stored: gateways are slow, and a fetch reads thousands of pages. */
export async function* oneAhead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = pages.next()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = pages.next()
      // Whoever asks for it hears of its failure.
      next.catch(() => undefined)
      yield value
    }
  } finally {
    // Without waiting for a page that nobody wants any more.
    void pages.return(undefined)
  }
}
