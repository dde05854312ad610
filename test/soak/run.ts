// npm run soak [-- --minutes N --operations N --payments N --warm-up N]: steady traffic, so many of each a second; what must
// stay flat is measured in the last minute of the warm-up and in the last of all.
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { dice } from '../../src/sandbox/faults/dice.ts'
import { atRate } from './at-rate.ts'
import { startInstallation } from './installation.ts'
import { MEDIAN, measure } from './measure.ts'
import { type Options, readOptions } from './options.ts'
import { outcome } from './outcome.ts'
import { poster } from './post.ts'
import { report } from './report.ts'
import { WINDOW_MS } from './sample.ts'
import { operationSender } from './send-operations.ts'
import { paymentSender } from './send-payments.ts'
import { type Figure, verdict } from './verdict.ts'

const MINUTE_MS = 60_000
/** Beyond this, the machine does not hold the rate, and the figures are of another load. */
const MAX_BEHIND_MS = 2_000
const MAX_MEDIAN_MS = 1_000

const options = optionsOrExit()
const interruption = Promise.withResolvers<never>()
interruption.promise.catch(() => undefined)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interruption.reject(new Error(`interrupted by ${signal}`)))
const installation = await startInstallation()
const wrong = await soak(options)
  .catch(error => [`WRONG: ${error}`])
  .finally(installation.close)
for (const line of wrong) console.log(line)
// What was interrupted may still be waiting.
process.exit(wrong.length === 0 ? 0 : 1)

/** @returns what was not as it must be */
async function soak({ minutes, warmUp, operations, payments }: Options): Promise<string[]> {
  console.log(
    `${operations} operations/s and ${payments} payments/s for ${minutes} minutes, after ${warmUp} of warm-up`,
  )
  const [{ url = '' } = {}] = installation.places
  const { post, close } = poster(url)
  const draw = dice(1)
  const operating = operationSender(post, draw)
  const paying = paymentSender(post, draw, operating.loanToPay)
  const loads = [atRate(operations, operating.send), atRate(payments, paying.send)]
  const orFailure = <T>(work: Promise<T>) =>
    Promise.race([work, interruption.promise, ...loads.map(({ failed }) => failed)])
  const measureNow = () => orFailure(measure(installation, operating.accepted))

  await orFailure(sleep(warmUp * MINUTE_MS - WINDOW_MS))
  const start = await measureNow()
  refuseOverload(start)
  const loadAtStart = loadavg()[0]?.toFixed(1)
  await orFailure(sleep(minutes * MINUTE_MS - WINDOW_MS))
  const end = await measureNow()
  const loadAtEnd = loadavg()[0]?.toFixed(1)
  const behindMs = Math.max(...loads.map(load => load.behindMs()))
  await orFailure(Promise.all(loads.map(load => load.stop())))
  const unlike = await outcome(installation, operating.accepted, paying.tally)
  await close()
  const lines = verdict(start, end)
  const late = `behind the rate by ${Math.round(behindMs)} ms: this machine does not hold it`

  // Times from a machine that is busy with something else are worthless.
  console.log(`load of the machine: ${loadAtStart} at the start, ${loadAtEnd} at the end`)
  console.log(report(lines))
  console.log(`${operating.accepted.length} operations accepted; ${JSON.stringify(paying.tally)}`)
  return [
    ...lines.filter(({ isFlat }) => !isFlat).map(({ what }) => `NOT FLAT: ${what}`),
    ...unlike.map(what => `WRONG: ${what}`),
    ...(behindMs > MAX_BEHIND_MS ? [`WRONG: ${late}`] : []),
  ]
}

/** What waits grows with the time from the start: nothing would be flat, and nothing of it the service's fault. */
function refuseOverload(start: Figure[]): void {
  const median = start.find(({ what }) => what === MEDIAN)?.value ?? 0
  if (median > MAX_MEDIAN_MS)
    throw new Error(
      `after the warm-up, half of the operations take ${median} ms: choose a lower rate`,
    )
}

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}
