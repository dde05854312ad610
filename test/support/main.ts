import { resolve } from 'node:path'

/** The program of the processes that tests start: what `bundle.ts` wrote, or the sources themselves. */
export const MAIN = process.env.TEST_MAIN ?? resolve('src/main.ts')
