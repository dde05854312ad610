import { sql } from 'kysely'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { type Browse, startWithConsole } from '../support/console/console.ts'

const DAY = '2026-02-05'
const OF_DAY = `from=${DAY}&to=${DAY}&lender=LENDER_02`
/** An export loads this many at once. It is a multiple of a page. */
const HELD = 500
const POSTED = 3
/** Rows that an export loads ahead, as long as `LONG`, are more than the network holds. */
const MANY = 3 * HELD
const LONG = 'long '.repeat(4_000)
/** More than a loan’s actions were once looked for. */
const OF_EACH_KIND = 550
/** These share one moment. */
const AT_ONCE = 300
const START = Date.parse('2026-01-01T00:00:00Z')
const KINDS = ['callback', 'action', 'operation', 'payment'] as const
type Kind = (typeof KINDS)[number]

const { db, url, viewer } = await startWithConsole(t, { ROLE: 'api' })

t.test(
  'the payments of a day are listed and exported to the last, after a full page in suspense',
  async t => {
    await addPaymentsOf(db, 'LENDER_02', { prefix: 'pay_of_day_', posted: POSTED })
    const listed = await walk(viewer, `/console/payments?${OF_DAY}&limit=100`, /rel="next"/, text =>
      [...text.matchAll(/>(pay_of_day_\d+)</g)].map(([, id = '']) => id),
    )
    t.equal(new Set(listed).size, HELD + POSTED)
    t.equal(listed.length, HELD + POSTED)
    const { text } = await viewer(`/console/payments.csv?${OF_DAY}`)
    t.equal(text.trimEnd().split('\r\n').length, 1 + HELD + POSTED)
  },
)

t.test('an export has each payment once, also one that is held or posted meanwhile', async t => {
  await addPaymentsOf(db, 'LENDER_03', { prefix: 'pay_moving_', posted: MANY, detail: LONG })
  const { cookie } = viewer
  const path = `${url}/console/payments.csv?lender=LENDER_03`
  const { body } = await fetch(path, { headers: { cookie } })
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = (await reader?.read())?.value ?? ''
  // The export waits, because nobody reads on.
  const moved = await sql`
    update core.transaction set state = 'suspense', reason = 'refund', posted_at = null
     where gateway_payment_id = ${`pay_moving_${HELD + 1}`}`.execute(db)
  const decided = await sql`
    update core.transaction set state = 'posted', reason = null, posted_at = now()
     where gateway_payment_id = ${`pay_moving_${HELD}`}`.execute(db)
  t.same([moved.numAffectedRows, decided.numAffectedRows], [1n, 1n])
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    text += part.value
  const exported = text.match(/^pay_moving_\d+/gm)
  t.equal(new Set(exported).size, HELD + MANY)
  t.equal(exported?.length, HELD + MANY)
})

t.test('a timeline has each entry once, newest first, however many have the same time', async t => {
  await addHistory(db)
  const shown = await walk(viewer, '/console/loans/L-1?refresh=off', />Older entries</, text =>
    [...text.matchAll(SHOWN)].map(([, operation, payment, callback, action]) =>
      operation
        ? `operation ${Number(operation)}`
        : payment
          ? `payment ${payment}`
          : callback
            ? `callback ${Number(callback)}`
            : `action ${action}`,
    ),
  )
  t.same(shown, inOrder())
})

t.test('an operation belongs to the subject that it names, whatever its type’s name', async t => {
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data)
    values (raw.new_id(), 'KYC_RENEW', 'api', 'client:C-9', 'C-9', '{}')`.execute(db)
  t.match((await viewer('/console/clients/C-9')).text, /KYC_RENEW/)
  t.notMatch((await viewer('/console/loans/C-9')).text, /KYC_RENEW/)
  const { headers } = await viewer('/console/search?q=C-9')
  t.equal(headers.get('location'), '/console/clients/C-9')
})

/** What `found` reads on each page, up to the one that has no link to a next one. */
async function walk(
  browse: Browse,
  first: string,
  next: RegExp,
  found: (text: string) => string[],
): Promise<string[]> {
  const all: string[] = []
  const seen = new Set<string>()
  for (let path: string | undefined = first; path !== undefined; ) {
    if (seen.has(path)) throw new Error(`${path} leads back to itself`)
    seen.add(path)
    const { status, text } = await browse(path)
    if (status !== 200) throw new Error(`${status} for ${path}: ${text}`)
    all.push(...found(text))
    const link = [...text.matchAll(/<a href="([^"]+)"[^>]*>[^<]*</g)].find(([tag]) =>
      next.test(tag),
    )
    path = link?.[1]?.replaceAll('&amp;', '&')
  }
  return all
}

const SHOWN =
  /<strong><a href="\/console\/operations\/LOAN_APPROVE%7C[^"]*-0*(\d+)"|href="\/console\/payments\/gateway_a\/pay_(\d+)[?"]|href="\/console\/callbacks\/[^"]*-0*(\d+)"|by user\.(\d+)/g

const secondsOf = (kind: Kind, n: number) =>
  n <= AT_ONCE ? 0 : n * 60 + (KINDS.length - KINDS.indexOf(kind))

function inOrder(): string[] {
  const all = KINDS.flatMap(kind =>
    Array.from({ length: OF_EACH_KIND }, (_, i) => ({ kind, n: i + 1 })),
  )
  return all
    .sort(
      (a, b) =>
        secondsOf(b.kind, b.n) - secondsOf(a.kind, a.n) ||
        KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
        b.n - a.n,
    )
    .map(({ kind, n }) => `${kind} ${n}`)
}

async function addPaymentsOf(
  db: Database,
  lender: string,
  { prefix, posted, detail }: { prefix: string; posted: number; detail?: string },
): Promise<void> {
  await sql`
    insert into core.transaction (gateway, kind, gateway_payment_id, lender, is_captured, is_verified, state, reason, source,
      raw_id, received_at, paid_at, posted_at, refused_detail)
    select 'gateway_a', 'payment', ${prefix}::text || n, ${lender}, true, true,
           case when n <= ${HELD} then 'suspense' else 'posted' end, case when n <= ${HELD} then 'no_loan_named' end,
           'lender_02_gateway_a', raw.new_id(), now(), ${DAY}::date + interval '8 h', case when n > ${HELD} then now() end, ${detail ?? null}
      from generate_series(1, ${HELD + posted}::integer) n`.execute(db)
}

/**
 * Adds the history of one loan. Every second payment is a refund of the first, and every action is about the first
 * payment or operation.
 */
async function addHistory(db: Database): Promise<void> {
  const at = (kind: Kind) => sql`
    to_timestamp(${START / 1_000}::integer + case when n <= ${AT_ONCE} then 0
      else n * 60 + ${KINDS.length - KINDS.indexOf(kind)}::integer end)`
  const id = sql`('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`
  const numbers = sql`generate_series(1, ${OF_EACH_KIND}::integer) n`
  await sql`
    insert into loanops.operation (id, operation_type, origin, subject, external_id, data, status, accepted_at, processed_at)
    select ${id}, 'LOAN_APPROVE', 'api', 'loan:L-1', 'L-1', '{}', 'success', ${at('operation')}, now()
     from ${numbers}`.execute(db)
  await sql`
    insert into core.transaction (id, gateway, kind, gateway_payment_id, of_payment_id, named_loan_id, lender, is_captured,
      is_verified, state, source, raw_id, received_at, posted_at)
    select ${id}, 'gateway_a', case n % 2 when 0 then 'refund' else 'payment' end, 'pay_' || n,
           case n % 2 when 0 then 'pay_1' end, case n % 2 when 1 then 'L-1' end, 'LENDER_02', true, true, 'posted',
           'lender_02_gateway_a', ${id}, ${at('payment')}, now()
      from ${numbers}`.execute(db)
  await sql`
    insert into loanops.callback (id, type, subject, about, occurred_at, state, sequence, body, created_at)
    select ${id}, 'operation.succeeded', 'loan:L-1', ${id}, now(), 'delivered', n, '{}', ${at('callback')}
     from ${numbers}`.execute(db)
  await sql`
    insert into loanops.audit (id, at, actor, action, subject)
    select ${id}, ${at('action')}, 'user.' || n, 'payment.note',
           case n % 2 when 0 then 'gateway_a/pay_1' else 'LOAN_APPROVE|00000000-0000-7000-8000-000000000001' end
      from ${numbers}`.execute(db)
}
