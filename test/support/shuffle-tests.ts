import t, { Test } from 'tap'
import { bySeed } from './by-seed.ts'

type Declared = { name: string; start(): void }

/** From now on, the tests that a file or a test declares together run in the seed's order. */
export function shuffleTests(seed: string): void {
  const { test } = Test.prototype
  const declaredIn = new WeakMap<object, Declared[]>()
  const order = bySeed(seed)
  function testInOrder(this: Test, name: string, ...rest: unknown[]) {
    return new Promise((resolve, reject) => {
      const start = () => Reflect.apply(test, this, [name, ...rest]).then(resolve, reject)
      const together = declaredIn.get(this) ?? []
      together.push({ name, start })
      if (together.length > 1) return
      declaredIn.set(this, together)
      // After all that is declared without waiting, and before tap notices that the callback has ended.
      queueMicrotask(() => {
        declaredIn.delete(this)
        for (const { start } of together.sort((a, b) => order(a.name, b.name))) start()
      })
    })
  }
  // Tap keeps the root's methods from when it is loaded.
  for (const tests of [Test.prototype, t]) Object.assign(tests, { test: testInOrder })
}
