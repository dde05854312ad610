import { readLedgerSettings } from '../../config/ledger-settings.ts'
import { checkLedger } from './check-ledger.ts'
import { chosenLenders } from './chosen-lenders.ts'
import type { Finding } from './finding.ts'
import { reportOf } from './report.ts'

type Flags = { json?: boolean | undefined; 'all-lenders'?: boolean | undefined }

/** @returns the code with which the process ends: 2 if the ledger cannot be reached, 1 if anything else breaks */
export async function checkFromCommand(env: NodeJS.ProcessEnv, flags: Flags): Promise<number> {
  const { settings, lenders } = readLedgerSettings(env)
  const isAll = flags['all-lenders'] === true
  const chosen = chosenLenders(lenders, one => isAll || one.isNamed)
  const findings = await checkLedger(settings, chosen)
  const text = flags.json ? JSON.stringify(reportOf(findings, new Date())) : inWords(findings)
  process.stdout.write(`${text}\n`)
  const breaking = findings.filter(({ state }) => state === 'breaks')
  if (breaking.some(({ check }) => check === 'reachable')) return 2
  return breaking.length > 0 ? 1 : 0
}

function inWords(findings: Finding[]): string {
  const lines = findings.flatMap(({ check, lender, state, found, expected, remedy }) => [
    `${state.padEnd(8)} ${check}${lender === null ? '' : ` (${lender})`}: ${found}`,
    ...(state === 'ok' ? [] : [`         expected: ${expected}`]),
    ...(remedy === null ? [] : [`         remedy: ${remedy}`]),
  ])
  const of = (state: Finding['state']) => findings.filter(one => one.state === state).length
  const counts = `${of('breaks')} break, ${of('differs')} differ, ${of('unknown')} unknown, ${of('ok')} ok`
  return [...lines, '', counts].join('\n')
}
