import type { Test } from 'tap'
import { startTestService, TOKEN } from '../service.ts'
import { rawHttp } from './raw-http.ts'

/** The headers of a JSON call, for raw bytes. */
export const HEAD = `host: x\r\nx-internal-token: ${TOKEN}\r\ncontent-type: application/json\r\n`

/** Starts an API whose process must go on after each of the tests declared with `test`. */
export async function survivingApi(t: Test) {
  const { call, url } = await startTestService(t, { ROLE: 'api' })
  return {
    call,
    url,
    raw: (bytes: string) => rawHttp(url, bytes),
    test: (name: string, body: (t: Test) => Promise<void>) =>
      t.test(name, async t => {
        await body(t)
        t.equal((await call('GET', '/readyz')).status, 200, 'the process goes on')
      }),
  }
}
