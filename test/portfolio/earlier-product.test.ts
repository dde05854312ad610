import t from 'tap'
import { lendersFile } from '../support/config/lenders-file.ts'
import { givenProduct } from '../support/ledger/products.ts'
import { ended, migrateCsv, rowsOf, startCsv } from '../support/portfolio/migrate.ts'
import { loansCsv } from '../support/portfolio/rows.ts'
import { startTestService } from '../support/service.ts'

t.test('a loan of an earlier product of its lender is already in the ledger', async t => {
  const lenders = { LENDER_01: { product: 'Old' }, LENDER_02: { product: ['New', 'Old'] } }
  const service = await startTestService(
    t,
    { LENDERS_FILE: lendersFile(t, lenders) },
    {
      async atLedger(service) {
        for (const name of ['Old', 'New']) await givenProduct(service, name)
      },
    },
  )
  t.match(await migrateCsv(service, 'loans', loansCsv({ lender: 'LENDER_01' })), { done: 1 })
  const migration_id = await startCsv(service, 'loans', loansCsv({}), { dry_run: true })
  t.match(await ended(service, migration_id), { dry_run: { in_ledger: 1, differs: 0 } })
  await service.call('POST', '/api/migration/run', { migration_id })
  t.match(await ended(service, migration_id), { done: 1, failed: 0 })

  const other = await migrateCsv(service, 'loans', loansCsv({ lender: 'LENDER_03' }))
  const [row] = await rowsOf(service, other.migration_id)
  t.match(row.reason, /product is Old there, not LENDER_03/)
})
