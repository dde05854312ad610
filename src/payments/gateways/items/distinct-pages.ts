import { UnexpectedAnswer } from './gateway-errors.ts'
import { keyOf } from './read-each.ts'

/** The pages of a list. @throws if the gateway answers one of them twice, because it may have done so instead of another */
export async function* distinctPages(pages: AsyncIterable<unknown[]>): AsyncGenerator<unknown[]> {
  const seen = new Set<string>()
  for await (const page of pages) {
    const key = keyOf(page)
    if (page.length > 0 && seen.has(key)) throw new UnexpectedAnswer('its list has a page twice')
    seen.add(key)
    yield page
  }
}
