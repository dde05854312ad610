import type { Config } from '../config/config.ts'
import { apiSetting } from '../payments/gateways/gateway.ts'
import { GATEWAYS } from '../payments/gateways/gateways.ts'
import { dataFolder } from './data-folder.ts'
import { tokenForExamples } from './example-token.ts'
import type { Surroundings } from './start-embedded.ts'

type Started = Pick<
  Config,
  'ROLE' | 'OPS_PORT' | 'DOCS_ENABLED' | 'CONSOLE_ENABLED' | 'INTERNAL_TOKEN'
>

export function welcome({ env, folder, controls }: Surroundings, url: string, config: Started) {
  const { ADMIN_USERNAME, ADMIN_PASSWORD, DATABASE_URL, LEDGER_URL } = env
  const token = tokenForExamples(config.INTERNAL_TOKEN)
  return `
LoanOps is running.

${pages(url, config)}  Internal token ${token?.token}
  Administrator  ${ADMIN_USERNAME} / ${ADMIN_PASSWORD}
  PostgreSQL     ${DATABASE_URL}
  Ledger         ${LEDGER_URL}
                 user ${env.LEDGER_USERNAME}, password ${env.LEDGER_PASSWORD}, tenant ${env.LEDGER_TENANT ?? 'default'}
${control(controls.ledger)}  Gateways       ${GATEWAYS.map(name => env[apiSetting(name, 'URL')]).join(', ')}
${control(controls.gateways)}
${config.ROLE === 'worker' || token?.role === 'read' ? '' : example(url, token?.token)}docs/testing.md shows how to make the ledger fail. Ctrl-C stops LoanOps; its data stays in
${folder}, until you empty it: npm run reset${folder === dataFolder().folder ? '' : ` -- --data "${folder}"`}
`
}

/** Only what this process runs has controls: nobody else's ledger has. */
const control = (url: string | undefined) => (url ? `                 controls ${url}\n` : '')

function pages(url: string, { ROLE, OPS_PORT, DOCS_ENABLED, CONSOLE_ENABLED }: Started): string {
  const docs = new URL('/docs', url)
  if (OPS_PORT !== undefined) docs.port = String(OPS_PORT)
  const isApi = ROLE !== 'worker'
  return [
    isApi ? `  API            ${url}/api\n` : '',
    isApi && CONSOLE_ENABLED ? `  Console        ${url}/console\n` : '',
    DOCS_ENABLED ? `  Documentation  ${docs}\n` : '',
  ].join('')
}

const example = (url: string, token = '') => `Create a client:

  curl -s ${url}/api/ledger/operate -H 'X-Internal-Token: ${token}' -H 'Content-Type: application/json' \\
    -d '{"status":"CLIENT_CREATE","data":{"firstname":"Asha","lastname":"Rao","externalId":"C-1001","activationDate":"05 January 2026"}}'

and see its outcome:

  curl -s '${url}/api/ledger/operations?external_id=C-1001' -H 'X-Internal-Token: ${token}'

`
