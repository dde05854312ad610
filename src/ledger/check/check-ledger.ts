import { checksFor } from './checks.ts'
import { EXPECTED, STEPS, troubleInAnswer } from './connection.ts'
import {
  type Check,
  type Checked,
  type CheckedLender,
  type CheckedSettings,
  type Finding,
  type Found,
  foundUnread,
} from './finding.ts'
import { openReads, Unread } from './reads.ts'

/** A caller waits for the check, so it must end within this time. */
const WITHIN_MS = 9_000

export type CheckOptions = {
  /** The pause between two calls; with one, the check has no time limit of its own. */
  pauseMs?: number
  stopping?: AbortSignal
}

type LedgerToCheck = { settings: CheckedSettings; lenders: CheckedLender[]; needed: string[] }

/** Checks the ledger by reads alone. What could not be read is `unknown`. */
export async function checkLedger(
  { settings, lenders, needed }: LedgerToCheck,
  { pauseMs, stopping }: CheckOptions = {},
): Promise<Finding[]> {
  const signal = AbortSignal.any([
    ...(stopping === undefined ? [] : [stopping]),
    ...(pauseMs === undefined ? [AbortSignal.timeout(WITHIN_MS)] : []),
  ])
  const reads = openReads(settings, { pauseMs, signal })
  try {
    const connection = await checkConnection({ reads, settings, lenders })
    const broken = connection.find(({ state }) => state !== 'ok')?.check
    const findings = [...connection]
    for (const check of checksFor(needed).filter(({ check }) => check !== broken))
      findings.push(
        ...(broken === undefined
          ? await runCheck(check, { reads, settings, lenders })
          : [after(broken, check)]),
      )
    return findings
  } finally {
    await reads.close()
  }
}

/** The findings up to the step that the first call did not pass. */
async function checkConnection({ reads, settings }: Checked): Promise<Finding[]> {
  const trouble = troubleInAnswer(await reads.probe(), settings)
  const at = STEPS.indexOf(trouble?.step ?? 'password_expiry')
  const passed = STEPS.slice(0, at).map(step =>
    findingOf(step, EXPECTED[step], { state: 'ok', found: 'as expected' }),
  )
  if (trouble === undefined) return passed
  const { step, finding } = trouble
  const later = STEPS.slice(at + 1).filter(one => one !== 'password_expiry')
  return [
    ...passed,
    findingOf(step, EXPECTED[step], finding),
    ...later.map(one => after(step, { check: one, expects: EXPECTED[one] })),
  ]
}

async function runCheck({ check, expects, run }: Check, checked: Checked): Promise<Finding[]> {
  try {
    return [await run(checked)].flat().map(found => findingOf(check, expects, found))
  } catch (error) {
    // An answer of another form must not hide the other findings.
    const unread =
      error instanceof TypeError ? new Unread('the ledger answers in another form') : error
    return [findingOf(check, expects, foundUnread(unread))]
  }
}

function after(broken: string, { check, expects }: Pick<Check, 'check' | 'expects'>): Finding {
  return findingOf(check, expects, {
    state: 'unknown',
    found: `could not be read because of ${broken}`,
    remedy: `Correct ${broken} first`,
  })
}

function findingOf(check: string, expected: string, found: Found): Finding {
  const { lender = null, remedy = null } = found
  return { check, lender, state: found.state, found: found.found, expected, remedy }
}
