/** A process, or one of the test files in it. */
const FILE = /^(?:# Subtest:| {4}#) (\S+\.test\.\S+)$/
const FAILED_TEST = /^ {4}not ok /
const ENDED_PROCESS = /^(not )?ok \d+ - (\S+)/

/**
 * The test files that failed, by tap's report of a suite. A process that failed without a failed test is named itself: no
 * failure is left out.
 */
export function failedFiles(report: string): string[] {
  const failed = new Set<string>()
  let file = ''
  let hasFailedTest = false
  for (const line of report.split('\n')) {
    file = FILE.exec(line)?.[1] ?? file
    if (FAILED_TEST.test(line)) {
      failed.add(file)
      hasFailedTest = true
    }
    const [, isFailed, entry = ''] = ENDED_PROCESS.exec(line) ?? []
    if (isFailed !== undefined && !hasFailedTest) failed.add(entry)
    if (entry !== '') hasFailedTest = false
  }
  return [...failed]
}
