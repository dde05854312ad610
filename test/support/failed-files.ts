/** A process, or one of the test files in it. */
const FILE = /^(?:# Subtest:| {4}#) (\S+\.test\.\S+)$/
const FAILED_TEST = /^ {4}not ok /
const ENDED_PROCESS = /^(not )?ok \d+ - (\S+)/

/** What a process of several files reports as a comment once all of them have run. */
export const ALL_RAN = 'all files of this process have run'

/**
 * The test files that failed, by tap's report of a suite. A process that failed without a failed test, or that died before
 * its last file, is named itself: no failure is left out, and no file that never ran.
 */
export function failedFiles(report: string): string[] {
  const failed = new Set<string>()
  let file = ''
  let hasFailedTest = false
  let hasRunAll = false
  for (const line of report.split('\n')) {
    file = FILE.exec(line)?.[1] ?? file
    if (FAILED_TEST.test(line)) {
      failed.add(file)
      hasFailedTest = true
    }
    if (line === `    # ${ALL_RAN}`) hasRunAll = true
    const [, isFailed, entry = ''] = ENDED_PROCESS.exec(line) ?? []
    if (entry === '') continue
    const isWhole = hasFailedTest && (hasRunAll || !entry.endsWith('.mjs'))
    if (isFailed !== undefined && !isWhole) failed.add(entry)
    hasFailedTest = false
    hasRunAll = false
  }
  return [...failed]
}
