import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { dayOf } from '../../src/csv/day-cell.ts'
import { errorsOf, uploadCsv } from '../support/portfolio/migrate.ts'
import { REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { smallProcess } from '../support/small-process.ts'

const REFUSED_BYTES = 48 * 2 ** 20
/** Less, because this file is read to its end, and each byte of its cells takes six bytes in JSON. */
const READ_BYTES = 8 * 2 ** 20
/** A hundred thousand rows. */
const TINY_ROWS_BYTES = 2 ** 18
/** Just within the longest row that is accepted. */
const HUGE_CELL = '\u0001'.repeat(90_000)

t.test('the process stays below 300 MiB during the upload of a hostile file', async t => {
  const service = await smallProcess(t, 'api')
  const { url } = service
  const isSmall = () => service.isSmall(t)
  const refused = async (csv: Uint8Array<ArrayBuffer>, detail: RegExp) => {
    const { status, body } = await uploadCsv({ url }, 'repayments', csv)
    t.equal(status, 400)
    t.match(body.detail, detail)
    isSmall()
  }

  t.test('memory stays low with rows of nothing but delimiters', () =>
    refused(
      file(() => `${','.repeat(95_000)}\n`),
      /^Line 2: the row has more than 100 cells$/,
    ),
  )
  t.test('memory stays low with one endless row of delimiters', () =>
    refused(
      file(() => ','.repeat(1_000)),
      /^Line 2: the row does not end within 100000 char/,
    ),
  )
  t.test('memory stays low with a quote that is never closed', () =>
    refused(
      file(n => (n === 0 ? '"' : 'L-1,\n')),
      /^Line 2, .*the row does not end within/,
    ),
  )
  t.test('memory stays low with one endless line', () =>
    refused(
      file(() => 'x'.repeat(1_000)),
      /^Line 2, .*the row does not end within/,
    ),
  )
  t.test('memory stays low with an endless header', () =>
    refused(
      file(() => 'x'.repeat(1_000), ''),
      /^Line 1: the header does not end/,
    ),
  )
  t.test('memory stays low with tiny invalid rows', async t => {
    const csv = file(() => 'a\n', REPAYMENT_COLUMNS, TINY_ROWS_BYTES)
    const { body } = await uploadCsv({ url }, 'repayments', csv)
    t.equal(body.invalid_rows, body.rows)
    isSmall()
  })
  t.test('memory stays low with huge cells, and during the download of their errors', async t => {
    const csv = file(() => `L-1,${HUGE_CELL},1,p,,\n`, REPAYMENT_COLUMNS, READ_BYTES)
    const { body } = await uploadCsv({ url }, 'repayments', csv)
    t.equal(body.invalid_rows, body.rows)
    isSmall()
    const errors = await errorsOf({ url }, body.migration_id)
    t.ok(errors.length > csv.length, 'every row is in errors.csv')
    isSmall()
  })
})

t.test('a day from a huge cell does not keep the cell in memory', async t => {
  const before = heapAfterCollection()
  for (let n = 0; n < 1_000; n++) {
    const cell = Buffer.from(`05 September ${1_000 + n}${' '.repeat(90_000)}`).toString()
    dayOf(cell)
    dayOf(cell.trim())
  }
  const grownMiB = (heapAfterCollection() - before) / 2 ** 20
  t.ok(grownMiB < 10, `${grownMiB} MiB`)
})

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

/** A header, and rows up to this size. */
function file(
  row: (n: number) => string,
  header = REPAYMENT_COLUMNS,
  size = REFUSED_BYTES,
): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(size)
  let at = bytes.write(`${header}\n`)
  let n = 0
  for (let next = row(n); at + next.length <= size; next = row(++n)) at += bytes.write(next, at)
  return new Uint8Array(bytes.buffer, 0, at)
}
