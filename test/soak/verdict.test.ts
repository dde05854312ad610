import t from 'tap'
import { readOptions } from './options.ts'
import { type Figure, verdict } from './verdict.ts'

const figure = (what: string, value: number, most?: number): Figure => ({
  what,
  unit: 'count',
  value,
  tolerance: { factor: 1.5, slack: 10, ...(most === undefined ? {} : { most }) },
})
const flatness = (start: Figure[], end: Figure[]) =>
  Object.fromEntries(verdict(start, end).map(({ what, isFlat }) => [what, isFlat]))

t.test('a figure is flat up to its factor and slack over the start, and not beyond', async t => {
  const start = ['at the limit', 'beyond it', 'less'].map(what => figure(what, 100))
  const end = [figure('at the limit', 160), figure('beyond it', 161), figure('less', 1)]
  t.same(flatness(start, end), { 'at the limit': true, 'beyond it': false, less: true })
})

t.test('a series that appears only during the run may be as large as the slack', async t => {
  t.same(flatness([], [figure('small', 10), figure('large', 11)]), { small: true, large: false })
})

t.test('the size of a row is not judged where there was no row at the start', async t => {
  t.same(verdict([], [{ ...figure('rows', 100), unit: 'bytes per row' }]), [])
})

t.test('a promised limit holds whatever the start was', async t => {
  t.same(flatness([figure('kept', 9)], [figure('kept', 5, 5)]), { kept: true })
  t.same(flatness([figure('broken', 9)], [figure('broken', 5.1, 5)]), { broken: false })
})

t.test('a figure that could not be measured is not flat', async t => {
  t.same(flatness([figure('lost', 1)], [figure('lost', Number.NaN)]), { lost: false })
})

t.test('a wrong option is refused by its name and range', async t => {
  t.same(readOptions(['--minutes', '2', '--warm-up', '5']), {
    minutes: 2,
    warmUp: 5,
    operations: 50,
    payments: 20,
  })
  t.throws(() => readOptions(['--warm-up', '2']), {
    message: '--warm-up must be a whole number from 3 to 60, not "2"',
  })
  t.throws(() => readOptions(['--operations', '1e3']), {
    message: '--operations must be a whole number from 1 to 10000, not "1e3"',
  })
})
