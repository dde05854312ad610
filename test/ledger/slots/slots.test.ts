import t from 'tap'
import { type Lane, openSlots } from '../../../src/ledger/slots/slots.ts'

/** Tasks that the test ends one after the other, in the order in which they got their slots. */
function tasksOn(slots: ReturnType<typeof openSlots>) {
  const started: { lane: Lane; end: () => void }[] = []
  return {
    lanes: () => started.map(({ lane }) => lane),
    begin(lane: Lane, count: number) {
      for (let i = 0; i < count; i++)
        void slots.run(lane, () => {
          const { promise, resolve } = Promise.withResolvers<void>()
          started.push({ lane, end: resolve })
          return promise
        })
    },
    async end(count: number) {
      for (let i = 0; i < count; i++) {
        started.shift()?.end()
        await new Promise(setImmediate)
      }
    },
  }
}

t.test('while both lanes wait, one slot in eight goes to the bulk lane', async t => {
  const tasks = tasksOn(openSlots(1))
  tasks.begin('live', 40)
  tasks.begin('bulk', 40)
  const order: Lane[] = []
  for (let i = 0; i < 24; i++) {
    order.push(...tasks.lanes())
    await tasks.end(1)
  }
  t.equal(order.length, 24)
  t.equal(order.filter(lane => lane === 'bulk').length, 2)
  t.equal(order.lastIndexOf('bulk') - order.indexOf('bulk'), 8)
})

t.test('the bulk lane never gets more than half of the slots', async t => {
  const tasks = tasksOn(openSlots(8))
  tasks.begin('bulk', 20)
  await new Promise(setImmediate)
  t.equal(tasks.lanes().length, 4)
  tasks.begin('live', 20)
  await new Promise(setImmediate)
  t.equal(tasks.lanes().filter(lane => lane === 'live').length, 4)
})
