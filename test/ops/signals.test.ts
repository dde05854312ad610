import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { allCounters } from '../../src/worker.ts'
import { rules } from '../support/ops/alerts.ts'
import { startTestService } from '../support/service.ts'

type Panel = { id: number; title: string; type: string; datasource: object; targets: Target[] }
type Target = { expr: string; datasource: object }

const read = (name: string) =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8').toString()
const dashboard = JSON.parse(read('grafana.json')) as {
  panels: Panel[]
  templating: { list: { name: string; type: string }[] }
}
const charts = dashboard.panels.filter(({ type }) => type !== 'row')
const EXPRESSIONS = [
  ...rules.map(({ expr }) => expr),
  ...charts.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]
/** A function is followed by a parenthesis, and a label stands in braces, quotes or `by (…)`. */
const METRIC = /\b(?:loanops|process|nodejs)_[a-z0-9_]+/g

/** Somebody looks these up after an upgrade of LoanOps, or of the LOS. */
const LOOKED_UP = ['loanops_build_info', 'loanops_ignored_members_total']

t.test('each metric of the dashboard and the alerts exists on /metrics', async t => {
  const shown = await shownBy(t)
  const named = new Set(EXPRESSIONS.flatMap(expression => expression.match(METRIC) ?? []))
  t.ok(named.size > 20)
  for (const name of named) t.ok(shown.has(name.replace(/_(bucket|count|sum)$/, '')), name)
})

t.test('operating.md describes exactly our metrics', async t => {
  const described = new Set(read('operating.md').match(/(?<=`)loanops_[a-z0-9_]+(?=`)/g))
  const ours = [...(await shownBy(t))].filter(name => name.startsWith('loanops_'))
  t.ok(ours.length > 25)
  t.same(ours.sort(), [...described].sort())
})

t.test('each metric of operating.md is in an alert or on the dashboard', async t => {
  const watched = new Set(EXPRESSIONS.flatMap(expression => expression.match(METRIC) ?? []))
  const names = [...watched].map(name => name.replace(/_(bucket|count|sum)$/, ''))
  const described = new Set(read('operating.md').match(/(?<=`)loanops_[a-z0-9_]+(?=`)/g))
  t.same([...described].filter(name => !names.includes(name)).sort(), LOOKED_UP)
})

t.test('an api shows every feature’s counters before anything is counted', async t => {
  const shown = await shownBy(t, { ROLE: 'api' })
  for (const open of allCounters)
    for (const counter of Object.values(open([]))) t.ok(shown.has(counter.name), counter.name)
})

t.test('each alert waits before it fires, says why, and has a query that runs', async t => {
  const { db } = await startTestService(t, { ROLE: 'api' })
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
  for (const { alert, for: waits, labels, annotations } of rules) {
    t.match(waits, /^\d+[mh]$/, alert)
    t.match(labels.severity, /^(page|ticket)$/, alert)
    t.match(annotations.reason, /^[A-Z].*\.$/, alert)
    await t.resolves(sql.raw(annotations.query).execute(db), alert)
  }
})

t.test('the dashboard has a row per subject, and its data source is a variable', async t => {
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  t.same(rows, ['Intake', 'Work', 'Ledger', 'Payments', 'Portfolio', 'Callbacks', 'Surroundings'])
  t.match(dashboard.templating.list, [{ name: 'datasource', type: 'datasource' }])
  for (const { title, datasource, targets } of charts)
    for (const one of [{ datasource }, ...targets])
      t.match(one.datasource, { uid: /^\$\{datasource\}$/ }, title)
})

t.test('each panel of the dashboard has its own id, and refused calls have a chart', async t => {
  const ids = dashboard.panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
  t.ok(charts.some(({ targets }) => targets.some(one => /refused_calls_total/.test(one.expr))))
})

async function shownBy(t: Test, changes: NodeJS.ProcessEnv = {}): Promise<Set<string>> {
  const { call } = await startTestService(t, changes)
  const { body } = await call('GET', '/metrics')
  return new Set([...String(body).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name))
}
