import t from 'tap'
import { ALL_RAN, failedFiles } from './failed-files.ts'

t.test('of a process with several files, only those with a failed test have failed', async t => {
  const report = `
# Subtest: .data/suite/000.test.mjs
    # test/a/fine.test.ts
    ok 1 - first
    # test/a/broken.test.ts
    # Subtest: second
        not ok 1 - should be equal
    not ok 2 - second
    not ok 3 - third
    # test/a/also-fine.test.ts
    ok 4 - fourth
    # ${ALL_RAN}
not ok 1 - .data/suite/000.test.mjs
# Subtest: .data/suite/001.test.mjs
    # test/b/fine.test.ts
    # Subtest: fifth
        # test/b/named-in-a-comment.test.ts
        1..0
    ok 1 - fifth
ok 2 - .data/suite/001.test.mjs
`
  t.same(failedFiles(report), ['test/a/broken.test.ts'])
})

t.test('a process that dies before its first test is among the failed', async t => {
  const report = `
# Subtest: .data/suite/000.test.mjs
    # test/a/broken.test.ts
    not ok 1 - first
    # ${ALL_RAN}
not ok 1 - .data/suite/000.test.mjs
# Subtest: .data/suite/001.test.mjs
    1..0
not ok 2 - .data/suite/001.test.mjs
`
  t.same(failedFiles(report), ['test/a/broken.test.ts', '.data/suite/001.test.mjs'])
})

t.test('a process that dies before its last file is among the failed', async t => {
  const report = `
# Subtest: .data/suite/000.test.mjs
    # test/a/deadly.test.ts
    not ok 1 - first
    not ok 2 - test unfinished
not ok 1 - .data/suite/000.test.mjs
`
  t.same(failedFiles(report), ['test/a/deadly.test.ts', '.data/suite/000.test.mjs'])
})

t.test('of files that each have a process, the failed ones are named', async t => {
  const report = `
# Subtest: test/a/fine.test.ts
    ok 1 - first
ok 1 - test/a/fine.test.ts
# Subtest: test/a/broken.test.ts
    not ok 1 - second
not ok 2 - test/a/broken.test.ts
`
  t.same(failedFiles(report), ['test/a/broken.test.ts'])
})
