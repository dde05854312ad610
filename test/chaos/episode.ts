import { type Path, SCOPES, type Scope, TROUBLES, type Trouble } from '../support/path.ts'
import type { Place } from './cluster.ts'
import type { Seen } from './observer.ts'

/** The promise: reported within this after trouble begins, and over within this after it ends. */
const REPORTED_WITHIN_MS = 10_000
const OVER_WITHIN_MS = 15_000
/** Watched for longer than that, to know by how much it is too late. */
const WATCHED_MS = 45_000
/** What is under way when trouble begins may still end well. */
const STILL_UNDER_WAY_MS = 1_500
const LOOK_EVERY_MS = 100

type Paths = Record<'database' | 'ledger' | 'gateway', Path>
type PathName = keyof Paths
type Part = { path: PathName; trouble: Trouble; scope: Scope; afterMs: number }
/** Trouble on one path or several, one after the other, until all of them heal at once. */
type Episode = { parts: Part[]; lastsMs: number }
/** What was seen of an episode; `wrong` lists what broke the promise. */
export type Outcome = { episode: string; overAfterMs: Record<string, number>; wrong: string[] }

export function drawEpisode(draw: () => number): Episode {
  const pick = <T>(list: readonly T[]) => list[Math.floor(draw() * list.length)] as T
  const names: PathName[] = ['database', 'ledger', 'gateway']
  const first = pick(names)
  const parts = names
    .filter(path => path === first || draw() < 0.25)
    .map(path => ({ path, trouble: pick(TROUBLES), scope: pick(SCOPES), afterMs: draw() * 2_000 }))
  // Half of them are over before anybody has to report them.
  return { parts, lastsMs: draw() < 0.5 ? 500 + draw() * 4_000 : 11_000 + draw() * 3_000 }
}

/** Lets it happen, and waits until everything that it stopped goes on. */
export async function goThrough(
  { parts, lastsMs }: Episode,
  paths: Paths,
  seen: Seen,
): Promise<Outcome> {
  let from = 0
  for (const { path, trouble, scope, afterMs } of parts) {
    await elapsed(afterMs)
    paths[path].inflict(trouble, scope)
    from = Date.now()
  }
  await elapsed(lastsMs)
  const healedAt = Date.now()
  for (const path of Object.values(paths)) path.heal()
  // A slow one still answers.
  const isGatewayGone = parts.some(one => one.path === 'gateway' && one.trouble !== 'slow')
  const goals = goalsOf(seen, healedAt)
  while (Date.now() < healedAt + WATCHED_MS && goals.some(({ at }) => at() === undefined))
    await elapsed(LOOK_EVERY_MS)
  const overAfterMs = Object.fromEntries(
    goals.map(({ of, at }) => [of, (at() ?? Number.POSITIVE_INFINITY) - healedAt]),
  )
  const late = Object.entries(overAfterMs).filter(([, ms]) => !(ms <= OVER_WITHIN_MS))
  const unreported =
    lastsMs >= REPORTED_WITHIN_MS
      ? unreportedOf(seen, isGatewayGone, from, from + REPORTED_WITHIN_MS)
      : []
  return {
    episode: `${parts.map(one => `${one.path} ${one.trouble} (${one.scope})`).join(', ')}, ${Math.round(lastsMs / 100) / 10} s`,
    overAfterMs,
    wrong: [...late.map(([of, ms]) => `${of} only after ${ms} ms`), ...unreported],
  }
}

type Goal = { of: string; at(): number | undefined }

/** Whatever has to go on, and when it did. */
function goalsOf(seen: Seen, healedAt: number): Goal[] {
  const since = (times: number[]) => times.find(at => at > healedAt)
  return [
    ...[...seen.accepted].map(([, times], n) => ({
      of: `intake ${n + 1}`,
      at: () => since(times),
    })),
    ...[...seen.ready].map(([place, looks], n) => ({
      of: `readyz of ${place.role} ${n + 1}`,
      at: () => looks.find(({ at, isReady }) => at > healedAt && isReady)?.at,
    })),
    ...['api', 'migration'].map(origin => ({
      of: `${origin} operations`,
      at: () => since(seen.ended.get(origin) ?? []),
    })),
    { of: 'fetches', at: () => since(seen.fetched) },
  ]
}

/** What stopped without any report in time. */
function unreportedOf(seen: Seen, isGatewayGone: boolean, from: number, until: number): string[] {
  const isWithin = (at: number) => at > from + STILL_UNDER_WAY_MS && at <= until
  const hasStopped = (times: number[]) => !times.some(isWithin)
  const unready = (place: Place) =>
    seen.ready.get(place)?.some(({ at, isReady }) => isWithin(at) && isReady === false) ?? false
  const silent = [...seen.ready].flatMap(([{ role }, looks]) =>
    looks.some(({ at, isReady }) => isWithin(at) && isReady === undefined)
      ? [`readyz of ${role} did not answer`]
      : [],
  )
  const intake = [...seen.accepted].flatMap(([place, times]) =>
    hasStopped(times) && !unready(place) ? ['intake stopped, and readyz does not say so'] : [],
  )
  const workers = [...seen.ready.keys()].filter(({ role }) => role === 'worker')
  const isWorkReported = seen.alarms.ledger.some(isWithin) || workers.some(unready)
  const work =
    hasStopped([...seen.ended.values()].flat()) && !isWorkReported
      ? ['work stopped, and neither metrics nor readyz say so']
      : []
  const fetches =
    isGatewayGone &&
    hasStopped(seen.fetched) &&
    !seen.alarms.gateway.some(isWithin) &&
    !workers.some(unready)
      ? ['fetches stopped, and no metric says so']
      : []
  return [...silent, ...intake, ...work, ...fetches]
}

const elapsed = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
