import t from 'tap'
import { operationCatalogue } from '../../src/operations/catalogue.ts'
import { beside } from './beside.ts'
import { listing } from './listing.ts'
import { startLos } from './los.ts'
import { SAMPLES } from './samples.ts'
import { submitting } from './submitting.ts'
import { tracking } from './tracking.ts'
import { values } from './values.ts'

/** `values` last: what it submits is never run. */
const CHAPTERS = { submitting, tracking, listing, beside, values }
/** The ids by which one LOS names its loans, and another does. */
const IDS = {
  'plain ids': (name: string) => name,
  'ids with / and Devanagari': (name: string) => `ऋण/2026/${name}`,
}

t.test('each operation has a sample, from which the tests of all operations follow', async t => {
  t.same(new Set(Object.keys(SAMPLES)), new Set(operationCatalogue(new Map()).keys()))
})

t.test('a LOS written from the contract alone gets the answers that it expects', async t => {
  const los = await startLos(t)
  for (const [name, chapter] of Object.entries(CHAPTERS))
    for (const [kind, id] of Object.entries(IDS))
      await t.test(`the chapter ${name} is answered as specified, with ${kind}`, t =>
        chapter(t, { ...los, id }),
      )
})
