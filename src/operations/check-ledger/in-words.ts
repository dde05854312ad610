import type { Finding } from '../../ledger/check/finding.ts'
import { onOneLine } from '../../text/on-one-line.ts'

/** The worst comes last, where a terminal shows it. */
const FROM_BEST = ['ok', 'unknown', 'differs', 'breaks'] as const

/** The findings in words: what is well with several lenders, and what several checks have in common, is said once. */
export function findingsInWords(findings: Finding[], left: string[] | undefined): string {
  const lines = FROM_BEST.flatMap(state => {
    const alike = Map.groupBy(
      findings.filter(one => one.state === state),
      ({ check, found, remedy }) => (state === 'ok' ? check : `${found}\n${remedy}`),
    )
    return [...alike.values()].flatMap(inLines)
  })
  const of = (state: Finding['state']) => findings.filter(one => one.state === state).length
  const counts = `${of('breaks')} break, ${of('differs')} differ, ${of('unknown')} unknown, ${of('ok')} ok`
  const stays = left?.map(what => `left at the ledger: ${what}`) ?? []
  return [...lines, '', ...stays, counts].map(onOneLine).join('\n')
}

function inLines(alike: Finding[]): string[] {
  const all = (member: 'check' | 'lender' | 'found' | 'expected') => [
    ...new Set(alike.flatMap(one => one[member] ?? [])),
  ]
  const only = (values: string[]) => (values.length === 1 ? values[0] : undefined)
  const lenders = all('lender').length === 0 ? '' : ` (${all('lender').join(', ')})`
  const found = only(all('found'))
  const expected = only(all('expected'))
  const { state = 'ok', remedy = null } = alike[0] ?? {}
  return [
    `${state.padEnd(8)} ${all('check').join(', ')}${lenders}${found === undefined ? '' : `: ${found}`}`,
    ...(state === 'ok' || expected === undefined ? [] : [`         expected: ${expected}`]),
    ...(remedy === null ? [] : [`         remedy: ${remedy}`]),
  ]
}
