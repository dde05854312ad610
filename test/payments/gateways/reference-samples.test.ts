import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import { sourceOf } from '../../support/payments/source.ts'

type Sample = { event: string; body: object }

/** The references in the documented samples of each gateway that bring money. */
const REFERENCES = {
  gateway_a: {
    pay_DESlfW9H8K9uqM: ['order:order_DESlLckIVRkHWj'],
    pay_DESp9bgForNoUd: ['mandate:token_MOfFlFTC1CBDOi', 'order:order_DESoU0U4ikYA19'],
    pay_DETA2KrOlhqQzF: [
      'customer:cust_BM8NbnFAk1BVDA',
      'payer:765432123456789',
      'payer:gauravkumar@icic',
      'virtual_account:rpy.payto00000468657501@icici',
      'virtual_account:va_DzYPeYqvsYEdNq',
    ],
    pay_EFtmUsbwpXwBHI: ['order:order_EFtkA6f5jdkfud'],
    pay_FPoJKWQQ8lK13n: ['order:order_FPoIeimWki9j8A'],
    pay_Qfldmt5StKZFCB: [
      'order:order_QflczVVaNJciLq',
      'payer:gaurav.kumar@exampleupi',
      'payment_link:plink_QflcnnZqCekuvL',
    ],
  },
  gateway_b: {
    // The references come from two versions of its webhook.
    1453002795: [
      'customer:7112AAA812234',
      'order:order_OFR_2',
      'payer:payer@upi',
      'payer:payer@ybl',
    ],
    49914526: [
      'mandate:427b608f83ad4cbdb6d472xxxxx[at]xxxx',
      'mandate:moznV33AssPd6vXsSm2',
      'payer:9900000001@ybl',
    ],
    5114925103565: [
      'order:n585ctivoh6g',
      'payer:123456789012',
      'virtual_account:98912574JSER10',
      'virtual_account:USER09',
    ],
  },
} as const

t.test('the references in each documented sample are found', async t => {
  for (const gateway of ['gateway_a', 'gateway_b'] as const) {
    const file = new URL(`${gateway.replace('_', '-')}-samples.json`, import.meta.url)
    const { samples }: { samples: Sample[] } = JSON.parse(readFileSync(file, 'utf8'))
    const { db, save, transform } = await sourceOf(t, gateway)
    await save(...samples.map(({ body }) => body))
    await transform()
    const { rows } = await sql<{ id: string; refs: string[] }>`
      select gateway_payment_id as id, refs from core.transaction
       where kind = 'payment' and is_captured order by 1`.execute(db)
    const found = Object.fromEntries(rows.map(({ id, refs }) => [id, refs.toSorted()]))
    t.same(found, REFERENCES[gateway], gateway)
    const { rows: links } = await sql<{ id: string }>`
      select hints ->> 'link_id' as id from core.link_event`.execute(db)
    t.same(links, gateway === 'gateway_b' ? [{ id: 'payment_ps11' }] : [], 'of links')
  }
})
