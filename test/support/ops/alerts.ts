import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { fires, type History, type Scrape, samplesIn } from './promql.ts'

type Rule = {
  alert: string
  expr: string
  for: string
  labels: { severity: string }
  annotations: { reason: string; query: string }
}
export type Target = { instance: string; text: string }

const FILE = new URL('../../../docs/alerts.yaml', import.meta.url)
const { groups } = parse(readFileSync(FILE, 'utf8'))
export const rules: Rule[] = groups[0].rules
/** More than the longest range of a rule. */
export const QUIET_MINUTES = 370

export const firing = (history: History): string[] =>
  rules
    .filter(({ expr, for: held }) => fires(expr, minutesOf(held), history))
    .map(({ alert }) => alert)

export function minutesOf(held: string): number {
  return Number.parseInt(held, 10) * (held.endsWith('h') ? 60 : 1)
}

export const lasting = (targets: Target[], minutes: number): History =>
  Array<Scrape>(minutes).fill(scraped(targets))

export function scraped(targets: Target[]): Scrape {
  return targets.flatMap(({ instance, text }) => {
    const up = { labels: { __name__: 'up', job: 'loanops' }, value: text === '' ? 0 : 1 }
    return [up, ...samplesIn(text)].map(({ labels, value }) => ({
      labels: { ...labels, instance },
      value,
    }))
  })
}
