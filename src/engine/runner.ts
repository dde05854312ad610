import { setTimeout as pause } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { crashPoint } from '../crash-point.ts'
import type { Database, Trx } from '../database/database.ts'
import { groupCommit } from '../database/group-commit.ts'
import type { Watch } from '../database/watch.ts'
import { newId } from '../ids.ts'
import type { Lane, Slots } from '../ledger/slots.ts'
import { runAttempt } from './attempt.ts'
import { type Claim, claimHeads, handBack, markUnavailable, rememberSeen } from './claim.ts'
import type { AttemptContext } from './current-attempt.ts'
import { brokenOff } from './decide.ts'
import { startExpiry } from './expire.ts'
import { type Ended, finishAttempts } from './finish.ts'
import { type HandOver, openHandOver } from './hand-over.ts'
import { keepLeases } from './leases.ts'
import type { Catalogue } from './operation.ts'
import { laneOf, ORIGINS, type Origin } from './origin.ts'
import { openStarts } from './starts.ts'
import { startSweep } from './sweep.ts'
import { wakeWaitingFor } from './waiting.ts'

/** Claimed and waiting for a slot, per lane: a free slot never waits for the database, and other workers get the rest. */
const MAX_AHEAD = 32
/** How long we go on trying to record a result while the database is away; then the lease ends and another worker reconciles. */
const KEEP_TRYING_MS = 60_000
const RETRY_KEEPING_MS = 500

export type RunnerOptions = Omit<AttemptContext, 'remember' | 'mayWrite'> & {
  catalogue: Catalogue
  slots: Slots
  watch: Watch
  /** Runs in the transaction in which operations become final. */
  onFinal(trx: Trx, ended: Ended[]): Promise<void>
}

export type Runner = {
  /**
   * Works what these subjects have, each in its order, until nothing more is due. Resolves as soon as that is begun
   * and its lane has room: a call that hangs must not keep others from being begun.
   */
  work(subjects: string[], lane: Lane): Promise<void>
  /** Takes no more work, waits for what is under way, and hands back the rest. */
  stop(): Promise<void>
}

/** Runs accepted operations on the ledger: claims, attempts, records, and goes on to the next of the same subject. */
export function startRunner(db: Database, boss: PgBoss, options: RunnerOptions): Runner {
  const { catalogue, ledger, slots, watch, log } = options
  const worker = newId()
  const underWay = new Set<Promise<void>>()
  const wantRoom: Record<Lane, (() => void)[]> = { live: [], bulk: [] }
  let isStopping = false

  const leases = keepLeases(db, worker, log)
  const claiming = watch.over('claims')
  const claims = groupCommit((subjects: string[]) => claiming(() => claimEach(subjects)))
  const starts = openStarts(db, worker, slots)
  // A refused repayment waits for whoever settles payments: no live result may wait behind it.
  const finish = { live: finishGroup('live'), bulk: finishGroup('bulk') }
  const waking = watch.over('wake-ups')
  const woken = groupCommit<string, undefined>(async clients => {
    await waking(() => wakeWaitingFor(db, boss, clients))
    return clients.map(() => undefined)
  })
  const context: Omit<AttemptContext, 'mayWrite'> = {
    ...options,
    async remember(claim, seen) {
      if (!(await rememberSeen(db, claim, seen)))
        throw new Error('the lease was lost before the write')
    },
  }
  const expiry = startExpiry(db, boss, options)
  const sweep = startSweep(db, options, { take, origins: originsWithRoom })

  return {
    async work(subjects, lane) {
      if (isStopping) return
      if (ledger.breaker.isOpen()) return markUnavailable(db, subjects)
      await take(subjects)
      while (!hasRoom(lane)) {
        await new Promise<void>(resolve => wantRoom[lane].push(resolve))
      }
    },
    async stop() {
      isStopping = true
      await Promise.all([sweep.stop(), expiry.stop()])
      while (underWay.size > 0) await Promise.all(underWay)
      leases.stop()
    },
  }

  /** Begins the subjects' oldest operations. */
  function take(subjects: string[]): Promise<void> {
    const taking = Promise.all(
      subjects.map(async subject => {
        const claim = await claims.submit(subject)
        if (claim !== undefined) void tracked(workFrom(claim))
      }),
    )
    return tracked(taking.then(() => undefined))
  }

  /** What a stop waits for. */
  function tracked(work: Promise<void>): Promise<void> {
    const settled = work.catch(() => undefined).finally(() => underWay.delete(settled))
    underWay.add(settled)
    return work
  }

  function finishGroup(lane: Lane) {
    const finishing = watch.over(`${lane} results`)
    return groupCommit<Ended, boolean>(ended =>
      finishing(() => finishAttempts(db, boss, ended, options.onFinal)),
    )
  }

  function hasRoom(lane: Lane): boolean {
    return slots.waiting(lane) < MAX_AHEAD
  }

  function originsWithRoom(): Origin[] {
    return ORIGINS.filter(origin => hasRoom(laneOf(origin)))
  }

  async function claimEach(subjects: string[]): Promise<(Claim | undefined)[]> {
    const since = performance.now()
    const wanted = [...new Set(subjects)]
    // Where each of them gets a slot at once; a claim that may have to wait for one begins later.
    const startable = ORIGINS.filter(origin => slots.free(laneOf(origin)) >= wanted.length)
    const made = await claimHeads(db, worker, wanted, startable)
    if (made.length > 0) crashPoint('claim.committed')
    leases.add(made, since)
    const bySubject = new Map(made.map(claim => [claim.subject, claim]))
    return subjects.map(subject => {
      const claim = bySubject.get(subject)
      bySubject.delete(subject)
      return claim
    })
  }

  /** Ends one claim after the other, as long as its subject has one. */
  async function workFrom(first: Claim): Promise<void> {
    const handOver = openHandOver()
    try {
      for (let claim: Claim | undefined = first; claim; ) {
        const isFinal: boolean = await workClaim(claim, handOver)
        if (!isFinal) return
        const loansWoken = wakeLoans(claim.subject)
        claim = isStopping ? undefined : await claims.submit(claim.subject)
        await loansWoken
      }
    } catch (error) {
      log.error({ err: error, operation: first.id }, 'broke off; the sweep goes on with it')
    }
  }

  /** A loan's operations are waited for by nobody. */
  async function wakeLoans(subject: string): Promise<void> {
    if (!subject.startsWith('client:')) return
    await woken.submit(subject).catch(error => {
      log.error({ err: error }, 'loans not woken; the sweep finds them')
    })
  }

  async function workClaim(claim: Claim, handOver: HandOver): Promise<boolean> {
    const lane = laneOf(claim.origin)
    try {
      const ended = await starts.run(lane, claim, async start => {
        if (hasRoom(lane)) for (const resolve of wantRoom[lane].splice(0)) resolve()
        return isStopping ? undefined : attempted(claim, handOver, start)
      })
      if (ended !== undefined) return await keep(ended)
      crashPoint('stop.handing-back')
      await handBack(db, claim)
      return false
    } finally {
      leases.release(claim)
    }
  }

  async function attempted(
    claim: Claim,
    handOver: HandOver,
    start: () => Promise<boolean>,
  ): Promise<Ended> {
    const operation = catalogue.get(claim.operationType)
    if (operation === undefined) {
      // Another version of this program accepted it, and its workers will know it.
      const error = new Error(`this version knows no ${claim.operationType}`)
      return { claim, key: '', answer: null, ending: brokenOff(claim, error, false) }
    }
    // What the attempt reads first does not wait for it; a write does.
    const started = start()
    const mayWrite = async () => (await started) && leases.covers(claim)
    const ended = await runAttempt({ ...context, mayWrite }, operation, claim, handOver)
    if (ended.answer !== null && 'method' in ended.answer)
      ledger.breaker.note(claim.subject, ended.answer)
    return ended
  }

  /** The ledger has been written: while the database is away, that must not be forgotten. */
  async function keep(ended: Ended): Promise<boolean> {
    const lane = laneOf(ended.claim.origin)
    const until = Date.now() + KEEP_TRYING_MS
    for (;;) {
      try {
        return (await finish[lane].submit(ended)) && ended.ending.status !== 'processing'
      } catch (error) {
        if (Date.now() > until) throw error
        await pause(RETRY_KEEPING_MS)
      }
    }
  }
}
