import { CompiledQuery, sql } from 'kysely'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Database, Trx } from '../../database/database.ts'
import { addressKey } from '../../http/connections/address-key.ts'
import { nameKey, pairKey } from './attempt-keys.ts'
import { TooManyAttempts } from './too-many-attempts.ts'

const WINDOW_SECONDS = 900
/** The failures of one name from one address. People mistype a few times; an attacker gets 480 guesses a day. */
const FAILURES_PER_PAIR = 5
/** Many people may share an office's address. */
const FAILURES_PER_ADDRESS = 50
/** Beyond this, attempts are slowed down and not refused: anybody may fail in anybody's name. */
const FAILURES_PER_NAME = 20
const KNOWN_SECONDS = 30 * 86_400

type From = { username: string; address: string | null }
/** An address is known for a name that logged in from it: strangers' failures do not count against that pair. */
type Standing = { isKnown: boolean; isSlowed: boolean }

export type Attempts = ReturnType<typeof openAttempts>

export function openAttempts(db: Database) {
  const counter = (keyPrefix: string, points: number, duration = WINDOW_SECONDS) =>
    new RateLimiterPostgres({ ...attemptStore(db), keyPrefix, points, duration })
  const pairs = counter('pair', FAILURES_PER_PAIR)
  const addresses = counter('address', FAILURES_PER_ADDRESS)
  const signOns = counter('sign-on', FAILURES_PER_ADDRESS)
  const names = counter('name', FAILURES_PER_NAME)
  const known = counter('known', 1, KNOWN_SECONDS)

  return {
    /** @throws TooManyAttempts */
    async check({ username, address }: From): Promise<Standing> {
      const pair = pairKey(username, address)
      const keys = [
        pairs.getKey(pair),
        addresses.getKey(addressKey(address)),
        names.getKey(nameKey(username)),
        known.getKey(pair),
      ]
      const [ofPair, ofAddress, ofName, login] = await countsOf(db, keys)
      const isKnown = login !== undefined
      const waits = [
        ...(ofPair && ofPair.points >= FAILURES_PER_PAIR ? [ofPair.seconds] : []),
        ...(ofAddress && ofAddress.points >= FAILURES_PER_ADDRESS && !isKnown
          ? [ofAddress.seconds]
          : []),
      ]
      if (waits.length > 0) throw new TooManyAttempts(Math.max(...waits))
      return { isKnown, isSlowed: !isKnown && (ofName?.points ?? 0) >= FAILURES_PER_NAME }
    },
    async failed({ username, address }: From, { isKnown }: Standing): Promise<void> {
      await pairs.penalty(pairKey(username, address))
      if (isKnown) return
      await Promise.all([addresses.penalty(addressKey(address)), names.penalty(nameKey(username))])
    },
    async succeeded({ username, address }: From): Promise<void> {
      const pair = pairKey(username, address)
      await Promise.all([pairs.delete(pair), known.set(pair, 1, KNOWN_SECONDS)])
    },
    /** @throws TooManyAttempts */
    async checkSignOn(address: string | null): Promise<void> {
      const [failures] = await countsOf(db, [signOns.getKey(addressKey(address))])
      if (failures && failures.points >= FAILURES_PER_ADDRESS)
        throw new TooManyAttempts(failures.seconds)
    },
    /** These are counted separately, so that failed single sign-ons never keep an office from logging in by password. */
    signOnFailed: (address: string | null) => signOns.penalty(addressKey(address)),
  }
}

/** Forgets a name's failures from all addresses, in all processes. */
export async function forgetFailures(trx: Trx, username: string): Promise<void> {
  const name = nameKey(username)
  await sql`
    delete from loanops.login_attempt
     where key = ${`name:${name}`} or starts_with(key, ${`pair:${name}`})`.execute(trx)
}

type Count = { key: string; points: number; seconds: number }

/** The counts of all keys, in one statement: a flood of throttled attempts must cost little. */
async function countsOf(db: Database, keys: string[]): Promise<(Count | undefined)[]> {
  const { rows } = await sql<Count>`
    select key, points, ceil(expire / 1000.0 - extract(epoch from now()))::integer as seconds
      from loanops.login_attempt
     where key = any(${keys}) and expire > extract(epoch from now()) * 1000`.execute(db)
  return keys.map(key => rows.find(row => row.key === key))
}

/** Makes rate-limiter-flexible use our own table and pool. */
function attemptStore(db: Database) {
  return {
    storeClient: queryable(db),
    storeType: 'pool',
    schemaName: 'loanops',
    tableName: 'login_attempt',
    tableCreated: true,
  }
}

function queryable(db: Database) {
  return {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows, numAffectedRows } = await db.executeQuery(CompiledQuery.raw(text, values))
      return { rows, rowCount: Number(numAffectedRows ?? rows.length) }
    },
  }
}
