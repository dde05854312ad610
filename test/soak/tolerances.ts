/** How far a figure may be above its start: `factor` times the start, plus `slack`; with `most`, up to that, whatever it was. */
export type Tolerance = { factor: number; slack: number; most?: number }

const MIB = 1_048_576

/** A table that is emptied as fast as it is filled reuses its pages, but not each of them at once. */
export const SIZE: Tolerance = { factor: 1.25, slack: MIB }
/** A table that grows by the traffic's own rows: what each of them takes, with its index entries, varies with their contents. */
export const BYTES_PER_ROW: Tolerance = { factor: 1.1, slack: 0 }
/** What autovacuum leaves between two of its looks, a minute apart, depends on when it looks. */
export const DEAD_ROWS: Tolerance = { factor: 1.5, slack: 10_000 }
/** The promise itself, of the least in a minute: what others take from the machine is not the view's. */
export const QUEUE_VIEW_MS: Tolerance = { factor: 0, slack: 0, most: 5 }
/** A median differs little between two minutes. */
export const MEDIAN_MS: Tolerance = { factor: 1.5, slack: 5 }
/** One checkpoint or one vacuum decides the slowest of a minute. */
export const SLOWEST_MS: Tolerance = { factor: 2, slack: 50 }
/** Shown, not judged: it depends on how many are committed together, and so on what else the machine does. */
export const CPU_MS: Tolerance = { factor: Number.POSITIVE_INFINITY, slack: 0 }
/** The least heap of a minute is what is left after a collection; caches of statements and connections still fill. */
export const HEAP: Tolerance = { factor: 1.15, slack: 8 * MIB }
/** Node returns freed pages late. */
export const RESIDENT: Tolerance = { factor: 1.15, slack: 32 * MIB }
/** Pools open connections for a burst, and close them after seconds. */
export const CONNECTIONS: Tolerance = { factor: 1, slack: 8 }
/** Finished jobs are deleted once a minute: what is left at the highest depends on when. */
export const JOBS: Tolerance = { factor: 1.25, slack: 1_000 }
