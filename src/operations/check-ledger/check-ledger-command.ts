import { createInterface } from 'node:readline/promises'
import type { Flags } from '../../config/command-line.ts'
import { ConfigError } from '../../config/config.ts'
import { readLedgerSettings } from '../../config/ledger-settings.ts'
import type { Lender } from '../../config/lenders.ts'
import { checkLedger } from '../../ledger/check/check-ledger.ts'
import { chosenLenders } from '../../ledger/check/chosen-lenders.ts'
import type { CheckedSettings, Finding } from '../../ledger/check/finding.ts'
import { reportOf } from '../../ledger/check/report.ts'
import { neededBy } from '../../ledger/check/set-up/permissions.ts'
import { operationCatalogue } from '../catalogue.ts'
import { findingsInWords } from './in-words.ts'
import { loansLeftEarlier } from './left-earlier.ts'
import { throwAwayName } from './throw-away.ts'
import { tryWrites } from './try-writes.ts'

/** @returns the code with which the process ends: 2 if the ledger cannot be reached, 1 if anything else breaks */
export async function checkFromCommand(env: NodeJS.ProcessEnv, flags: Flags): Promise<number> {
  const { settings, lenders } = readLedgerSettings(env)
  if (flags.write && flags.tenant !== settings.LEDGER_TENANT)
    throw new ConfigError(
      `--write creates a client and a loan at the ledger: repeat its tenant, as --tenant ${settings.LEDGER_TENANT}`,
    )
  const isAll = flags['all-lenders'] === true
  const chosen = chosenLenders(lenders, one => isAll || one.isNamed)
  const needed = neededBy(operationCatalogue(lenders).values())
  const read = await checkLedger({ settings, lenders: chosen, needed })
  const { findings, left } = flags.write
    ? await withWrites(settings, chosen, read)
    : { findings: read, left: undefined }
  const report = { ...reportOf(findings, new Date()), ...(left === undefined ? {} : { left }) }
  const text = flags.json ? JSON.stringify(report) : findingsInWords(findings, left)
  process.stdout.write(`${text}\n`)
  const breaking = findings.filter(({ state }) => state === 'breaks')
  if (breaking.some(({ check }) => check === 'reachable')) return 2
  return breaking.length > 0 ? 1 : 0
}

/** Until these checks are as expected, every write would be refused for the same reason. */
const FIRST = ['reachable', 'api_path', 'tenant', 'credentials', 'password_expiry']

async function withWrites(settings: CheckedSettings, lenders: Lender[], read: Finding[]) {
  const broken = new Set(
    read
      .filter(({ state }) => state === 'breaks')
      .map(({ check, lender }) => (FIRST.includes(check) ? null : lender)),
  )
  const lender = broken.has(null) ? undefined : lenders.find(({ code }) => !broken.has(code))
  if (lender === undefined) {
    process.stderr.write('Nothing is written while what is listed below breaks.\n')
    return { findings: read, left: [] }
  }
  const name = throwAwayName()
  const earlier = await loansLeftEarlier(settings)
  if (!(await isWanted(settings, name, earlier))) {
    process.stderr.write('Nothing was written.\n')
    return { findings: read, left: earlier.map(one => `the loan ${one} of an earlier check`) }
  }
  const { findings, left } = await tryWrites(settings, lender, name, earlier)
  const isReplaced = ({ check, lender }: Finding) =>
    findings.some(one => one.check === check && one.lender === lender)
  return { findings: [...read.filter(one => !isReplaced(one)), ...findings], left }
}

/** Without an answer, as where nobody is asked, nothing is written. */
async function isWanted(
  { LEDGER_TENANT, LEDGER_URL }: CheckedSettings,
  name: string,
  earlier: string[],
): Promise<boolean> {
  const asking = createInterface({ input: process.stdin })
  process.stderr.write(
    `This creates a client and a loan named ${name} at ${new URL(LEDGER_URL).host}, tenant ${LEDGER_TENANT}, with a repayment of 1. ` +
      'The loan is removed if the ledger’s user may undo its transactions; the client stays. ' +
      (earlier.length === 0
        ? ''
        : `Earlier checks that did not end left ${earlier.join(', ')}: these loans are removed too. `) +
      'Type yes to go on: ',
  )
  try {
    for await (const line of asking) return line.trim().toLowerCase() === 'yes'
    return false
  } finally {
    asking.close()
  }
}
