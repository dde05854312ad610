// node test/bench/migration-upload.ts [ROWS]: upload and validation of a repayments file, against csv-parse alone.
import { createReadStream, createWriteStream, openAsBlob, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { REPAYMENT_COLUMNS } from '../support/portfolio/portfolio.ts'
import { TOKEN } from '../support/service.ts'
import { median } from './median.ts'
import { startBenched } from './service-process.ts'

const rows = Number(process.argv[2] ?? 1_000_000)
const RUNS = 3
const LOANS = 80_000
const file = join(tmpdir(), `loanops-bench-${process.pid}.csv`)

await pipeline(Readable.from(lines()), createWriteStream(file))
console.log(`${rows} rows, ${(statSync(file).size / 2 ** 20).toFixed(0)} MiB`)
const service = await startBenched('upload', 'http://127.0.0.1:1/api/v1')
console.log(`the idle service: ${service.peakMiB()} MiB`)
const [alone, uploads]: number[][] = [[], []]
try {
  for (let run = 0; run < RUNS; run++) {
    alone?.push(await timed(parseAlone))
    uploads?.push(await timed(upload))
    console.log(
      `csv-parse alone ${rate(alone?.at(-1))} rows/s, upload ${rate(uploads?.at(-1))} rows/s, peak ${service.peakMiB()} MiB`,
    )
  }
  const [a, u] = [median(alone as number[]), median(uploads as number[])]
  console.log(
    JSON.stringify({
      rows,
      csv_parse_rows_per_second: rate(a),
      upload_rows_per_second: rate(u),
      ratio: Number((a / u).toFixed(3)),
      peak_mib: service.peakMiB(),
    }),
  )
} finally {
  await service.close()
  rmSync(file, { force: true })
}

function* lines() {
  yield `${REPAYMENT_COLUMNS}\r\n`
  for (let i = 0; i < rows; i += 1_000) {
    let text = ''
    for (let n = i; n < Math.min(rows, i + 1_000); n++) {
      const day = new Date(Date.UTC(2023, 2, 1 + Math.floor(n / LOANS) * 30 + (n % 28)))
      const gateway = n % 3 === 0 ? 'gateway_a' : ''
      text += `L-${n % LOANS},${day.toISOString().slice(0, 10)},${1_000 + (n % 9_000)}.${10 + (n % 90)},pay_${n},${gateway},EMI ${n % 24}\r\n`
    }
    yield text
  }
}

async function parseAlone() {
  let count = 0
  for await (const _ of createReadStream(file).pipe(parse())) count++
  if (count !== rows + 1) throw new Error(`csv-parse found ${count}`)
}

async function upload() {
  const form = new FormData()
  form.set('type', 'repayments')
  form.set('file', await openAsBlob(file), 'repayments.csv')
  const response = await fetch(`${service.url}/api/migration/upload`, {
    method: 'POST',
    body: form,
    headers: { 'x-internal-token': TOKEN },
  })
  const body = (await response.json()) as { valid_rows: number }
  if (body.valid_rows !== rows) throw new Error(JSON.stringify(body).slice(0, 500))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1_000
}

function rate(seconds = 1) {
  return Math.round(rows / seconds)
}
