import { sql } from 'kysely'
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/database/database.ts'
import { logger } from '../../src/log.ts'
import { type Gateway, member } from '../../src/payments/gateways/gateway.ts'
import { gateways } from '../../src/payments/gateways/gateways.ts'
import { startRole } from '../../src/role.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { lendersFile } from '../support/lenders-file.ts'
import { matchEach } from '../support/match-each.ts'
import { withLedger } from '../support/payments.ts'
import { startTestService, testEnv } from '../support/service.ts'

/** A gateway that src does not know: a signature in plain sight, and one field per fact. */
const gatewayC = {
  name: 'gateway_c',
  title: 'gateway C',
  secretSetting: 'GATEWAY_C_WEBHOOK_SECRET',
  rules: () => ({
    path: '/webhooks/gateway_c',
    headers: { 'x-c-secret': 'the secret itself' },
    signedBy: [{ header: 'x-c-secret', form: /./, holds: 'the secret' }],
    eventType: event => event.kind,
    eventId: headers => headers['x-c-id'],
    accounts: event => [event.account],
    lenders: event => [member(event, 'notes', 'lender')],
    isSigned: (secret, _, headers) => headers['x-c-secret'] === secret,
  }),
} as const satisfies Gateway

async function addGatewayC(db: Database): Promise<void> {
  await sql`
    create function base.gateway_c(body bytea) returns setof base.fact language sql stable as $$
      select (base.captured(e ->> 'id', (e ->> 'amount')::numeric, 'INR', base.iso_time_of(e -> 'at'),
                base.loan_of(e -> 'notes'), null)).*
        from (select convert_from(body, 'UTF8')::jsonb) event (e)
    $$`.execute(db)
  await sql`insert into core.gateway (name) values ('gateway_c')`.execute(db)
}

const paid = (id: string, more: object = {}) => ({
  kind: 'paid',
  id,
  amount: '1000.50',
  at: '2026-02-05T10:00:00+05:30',
  notes: { loan_id: 'L-1' },
  ...more,
})

t.test(
  'a gateway takes an object, an SQL function and a row, and its payments are posted',
  async t => {
    const file = lendersFile(t, { LENDER_02: { gateway_c: { accounts: ['acc_c'] } } })
    const service = withLedger(
      await startTestService(
        t,
        { LENDERS_FILE: file, GATEWAY_C_WEBHOOK_SECRET: 's' },
        { gateways: [...gateways, gatewayC], prepare: addGatewayC },
      ),
    )
    await service.loan('L-1')
    const send = async (event: object, headers: Record<string, string>) =>
      (await service.webhook('gateway_c' as 'gateway_a', event, { headers })).status
    t.equal(await send(paid('c1'), {}), 401, 'its setting has it validated by default')
    t.equal(await send(paid('c1', { account: 'acc_c' }), { 'x-c-secret': 's', 'x-c-id': '1' }), 200)
    // An operator may make a raw table by hand.
    await sql`create table raw.lender_11_gateway_c (like raw.template including all)`.execute(
      service.db,
    )
    t.match(await service.batch(), { discovered: 2, posted: 1 })
    t.match((await service.payment('c1', 'gateway_c')).payment, {
      state: 'posted',
      lender: 'LENDER_02',
      verified: true,
      raw_table: 'raw.lender_02_gateway_c',
    })
    matchEach(t, await service.repayments(), [{ externalId: 'gateway_c-c1', amount: '1000.50' }])
    const { rows } =
      await sql`select source, lender, gateway from ops.source order by source`.execute(service.db)
    t.same(rows, [
      { source: 'lender_02_gateway_c', lender: 'LENDER_02', gateway: 'gateway_c' },
      { source: 'lender_11_gateway_c', lender: 'LENDER_11', gateway: 'gateway_c' },
    ])
  },
)

t.test('no process starts with settings for a gateway’s API that has no client', async t => {
  const { url, db } = await freshDatabase(t)
  await addGatewayC(db)
  const env = testEnv(url, 'http://127.0.0.1:1/api/v1', {
    GATEWAY_C_API_URL: 'https://api.example',
    GATEWAY_C_API_KEY: 'key',
    GATEWAY_C_API_SECRET: 'secret',
  })
  const config = readConfig(env, [...gateways, gatewayC])
  await t.rejects(startRole(config, logger('silent')), /^GATEWAY_C_API_URL: .* no client/)
})
