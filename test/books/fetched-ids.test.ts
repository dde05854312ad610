import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { fetchWindow } from '../../src/books/backfill/fetch-window.ts'
import type { ApiPage, GatewayApi } from '../../src/payments/gateways/gateway-api.ts'
import { GatewayRefused } from '../../src/payments/gateways/items/gateway-errors.ts'

const DAYS = 20
const IDS_OF_A_DAY = 10_000
/** The ids of all days take some 30 MB. */
const MAX_GROWN_BYTES = 8_000_000

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

t.test('a fetch that is refused a list holds the ids of two days, not of all', async t => {
  let listed = 0
  const pages = async function* () {
    const payments = Array.from({ length: IDS_OF_A_DAY }, () => ({
      id: `pay_${String(++listed).padStart(14, '0')}`,
    }))
    yield { payments, returns: [], unreadable: [] } as unknown as ApiPage
  }
  const api = {
    lists: () => [pages()],
    // biome-ignore lint/correctness/useYield: it is refused before it has any
    async *settled() {
      throw new GatewayRefused(403)
    },
  } as unknown as GatewayApi
  const from = new Date('2026-01-01')
  const to = new Date(from)
  to.setUTCDate(to.getUTCDate() + DAYS)
  const before = heapBytes()
  let grown = Number.POSITIVE_INFINITY
  const saver = {
    check() {},
    async pages(_: ApiPage[], count: number) {
      if (count === DAYS * IDS_OF_A_DAY) grown = heapBytes() - before
      return undefined
    },
    async settlements() {},
    async end() {
      t.fail('no day is whole')
    },
  }
  await t.rejects(fetchWindow(api, { from, to }, 0, saver), { message: 'it answered 403' })
  // It may even shrink: other tests of the process leave what is freed meanwhile.
  t.ok(grown < MAX_GROWN_BYTES, `${grown} bytes`)
})
