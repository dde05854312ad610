import { internalTokens } from '../config/secrets.ts'
import { apiSetting } from '../payments/gateways/gateway.ts'
import { GATEWAYS } from '../payments/gateways/gateways.ts'
import { dataFolder } from './data-folder.ts'
import type { Surroundings } from './start-embedded.ts'

export function welcome({ env, folder, controls }: Surroundings, url: string): string {
  const token = internalTokens(env.INTERNAL_TOKEN)[0]?.token
  const { ADMIN_USERNAME, ADMIN_PASSWORD, DATABASE_URL, LEDGER_URL } = env
  return `
LoanOps is running.

  API            ${url}/api
  Console        ${url}/console
  Documentation  ${url}/docs
  Internal token ${token}
  Administrator  ${ADMIN_USERNAME} / ${ADMIN_PASSWORD}
  PostgreSQL     ${DATABASE_URL}
  Ledger         ${LEDGER_URL}
                 user ${env.LEDGER_USERNAME}, password ${env.LEDGER_PASSWORD}, tenant ${env.LEDGER_TENANT ?? 'default'}
${control(controls.ledger)}  Gateways       ${GATEWAYS.map(name => env[apiSetting(name, 'URL')]).join(', ')}
${control(controls.gateways)}
Create a client:

  curl -s ${url}/api/ledger/operate -H 'X-Internal-Token: ${token}' -H 'Content-Type: application/json' \\
    -d '{"status":"CLIENT_CREATE","data":{"firstname":"Asha","lastname":"Rao","externalId":"C-1001","activationDate":"05 January 2026"}}'

and see its outcome:

  curl -s '${url}/api/ledger/operations?external_id=C-1001' -H 'X-Internal-Token: ${token}'

docs/testing.md shows how to make the ledger fail. Ctrl-C stops LoanOps; its data stays in
${folder}, until you empty it: npm run reset${folder === dataFolder().folder ? '' : ` -- --data "${folder}"`}
`
}

/** Only what this process runs has controls: nobody else's ledger has. */
const control = (url: string | undefined) => (url ? `                 controls ${url}\n` : '')
