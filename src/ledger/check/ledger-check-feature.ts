import { sql } from 'kysely'
import { type Measured, measure } from '../../ops/measured.ts'

const findingsGauge: Measured = {
  metrics: {
    findings: {
      name: 'loanops_ledger_findings',
      help: 'What the last check of the ledger’s set-up found',
      labels: ['check', 'state'],
    },
  },
  query: sql`select "check", state, count(*) as findings from ops.ledger_finding group by "check", state`,
}

export const ledgerCheckFeature = { gauges: [measure([findingsGauge])] }
