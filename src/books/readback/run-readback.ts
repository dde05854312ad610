import { sql } from 'kysely'
import type { Config } from '../../config/config.ts'
import { crashPoint } from '../../crash-point.ts'
import type { Databases } from '../../database/database.ts'
import type { Ledger } from '../../ledger/calls/client.ts'
import type { Slots } from '../../ledger/slots/slots.ts'
import { RunLeft } from '../../queue/keep-claim.ts'
import { endRun } from '../../queue/run-claim.ts'
import type { Run } from '../../queue/run-job.ts'
import { type LoanRead, openLoanReader } from './loan-reader.ts'
import { type PostedPayment, postedTo, type Span } from './posted-payments.ts'
import { type FindingCounts, recordFindings } from './record-findings.ts'

type ReadbackContext = Databases &
  Pick<Config, 'LEDGER_TIMEZONE' | 'RECONCILE_DAYS'> & {
    ledger: Ledger
    slots: Slots
    onFound(found: FindingCounts): void
  }

/** Each page is recorded in one transaction. */
const PAGE_PAYMENTS = 500
/** While the last loans of a page are read, perhaps slowly, those of the next pages are read too. */
const PAGES_UNDER_WAY = 3

type Place = { readTo: string; readToId: string }
type Page = Place & { loans: string[]; payments: PostedPayment[] }

export async function runReadback(context: ReadbackContext, run: Run): Promise<void> {
  crashPoint('readback.claimed')
  const { span, place } = await readSpan(context, run)
  const reads = startReads(context, run)
  const underWay: { loans: Set<string>; recorded: Promise<void> }[] = []
  // Otherwise a loan that cannot be read would be tried again for each of its payments.
  const unread = new Set<string>()
  // The page that is looked up meanwhile may not see that this one was recorded.
  let lastRecorded = new Set<string>()
  let last = Promise.resolve()
  let next = nextPage(place)
  try {
    for (let page = await next; page; page = await next) {
      run.check()
      next = nextPage(page)
      const isTaken = (loan: string) =>
        unread.has(loan) || lastRecorded.has(loan) || underWay.some(one => one.loans.has(loan))
      const ours = page.payments.filter(({ loan }) => !isTaken(loan))
      const recorded = recordedAfter(last, page, await reads.start(ours))
      recorded.catch(() => undefined)
      underWay.push({ loans: new Set(page.loans), recorded })
      last = recorded
      if (underWay.length < PAGES_UNDER_WAY) continue
      const oldest = underWay.shift()
      await oldest?.recorded
      lastRecorded = oldest?.loans ?? lastRecorded
    }
    await last
  } finally {
    await Promise.allSettled([reads.ended(), ...underWay.map(one => one.recorded)])
  }
  crashPoint('readback.unended')
  await endRun(context.db, 'core.readback_run', run.claim, sql`status = 'completed'`)

  function nextPage(after: Place | null): Promise<Page | undefined> {
    const found = pageAfter(context, span, after)
    found.catch(() => undefined)
    return found
  }

  async function recordedAfter(before: Promise<void>, page: Page, started: Promise<LoanRead>[]) {
    const results = await Promise.all(started)
    for (const { loan, error } of results) if (error !== null) unread.add(loan)
    await before
    crashPoint('readback.read')
    context.onFound(await record(context, run, page, results))
    crashPoint('readback.recorded')
  }
}

/** Reads several loans at a time, so that the bulk lane never waits for our database. */
function startReads({ slots, ledger }: ReadbackContext, run: Run) {
  // The number of slots changes if they are shared with other processes.
  const most = () => 2 * Math.max(1, slots.most.bulk)
  const reader = openLoanReader({ slots, ledger }, run)
  const underWay = new Set<Promise<unknown>>()

  return {
    async start(payments: PostedPayment[]): Promise<Promise<LoanRead>[]> {
      const started: Promise<LoanRead>[] = []
      for (const [loan, its] of Map.groupBy(payments, one => one.loan)) {
        while (underWay.size >= most()) await Promise.race(underWay)
        const reading = reader.read(loan, its)
        const settled = reading.catch(() => undefined).finally(() => underWay.delete(settled))
        underWay.add(settled)
        started.push(reading)
      }
      return started
    },
    ended: () => Promise.all(underWay),
  }
}

async function readSpan({ db, RECONCILE_DAYS }: ReadbackContext, { claim }: Run) {
  type Row = Span & { readTo: string | null; readToId: string | null }
  const { rows } = await sql<Row>`
    select (started_at - make_interval(days => ${RECONCILE_DAYS}))::text as since, started_at::text as until,
           read_to_posted_at::text as "readTo", read_to_id as "readToId"
      from core.readback_run where id = ${claim.id}`.execute(db)
  const { since, until, readTo, readToId } = rows[0] as Row
  const place = readTo === null || readToId === null ? null : { readTo, readToId }
  return { span: { since, until }, place }
}

async function pageAfter(
  { db, LEDGER_TIMEZONE }: ReadbackContext,
  span: Span,
  after: Place | null,
): Promise<Page | undefined> {
  const { rows } = await sql<Omit<Page, 'payments'>>`
    select loans, read_to::text as "readTo", read_to_id as "readToId"
      from core.loans_to_read_back(${span.since}, ${span.until}, ${after?.readTo}, ${after?.readToId}, ${PAGE_PAYMENTS})
     where read_to is not null`.execute(db)
  const [page] = rows
  return page && { ...page, payments: await postedTo(db, page.loans, span, LEDGER_TIMEZONE) }
}

/**
 * Records a page in one transaction with the run's progress, so that a worker that continues the run counts nothing
 * twice.
 */
function record(
  { patient }: ReadbackContext,
  { claim }: Run,
  { readTo, readToId }: Page,
  results: LoanRead[],
): Promise<FindingCounts> {
  const errors = results.flatMap(({ error }) => error ?? [])
  return patient.transaction().execute(async trx => {
    const found = await recordFindings(
      trx,
      results.flatMap(({ findings }) => findings),
    )
    const { numAffectedRows } = await sql`
      update core.readback_run
         set loans = loans + ${results.length - errors.length}, failed = failed + ${errors.length},
             payments = payments + ${found.payments}, reversed = reversed + ${found.reversed},
             missing = missing + ${found.missing}, differing = differing + ${found.differing},
             read_to_posted_at = ${readTo}, read_to_id = ${readToId},
             last_error = coalesce(${errors.at(-1)}, last_error)
       where id = ${claim.id} and attempt = ${claim.number} and status = 'running'`.execute(trx)
    if (numAffectedRows !== 1n) throw new RunLeft()
    crashPoint('readback.recording')
    return found
  })
}
