import t from 'tap'
import { booksAt } from '../support/ledger/ledger-driver.ts'
import { asText, loansAsExpected } from '../support/portfolio/books.ts'
import { migrateCsv } from '../support/portfolio/migrate.ts'
import { makePortfolio } from '../support/portfolio/portfolio.ts'
import { startTestService } from '../support/service.ts'

t.test('a portfolio ends in the ledger’s books as computed by the generator', async t => {
  const service = await startTestService(t, { LEDGER_CONCURRENCY: '8' })
  const { loansCsv, repaymentsCsv, expected } = makePortfolio(
    { clients: 8, loans: 40, repayments: 300 },
    7,
  )

  const loans = await migrateCsv(service, 'loans', loansCsv)
  t.match(loans, { status: 'completed', done: 40, failed: 0, stopped: 0 })
  const repayments = await migrateCsv(service, 'repayments', repaymentsCsv)
  t.match(repayments, { status: 'completed', done: 300, failed: 0, stopped: 0 })

  t.same(await loansAsExpected(service.ledger, expected), asText(expected))
  const books = await booksAt(service.ledger.controlUrl)
  t.equal(books.clients.length, 8)
  t.equal(books.transactions.filter((one: any) => one.type === 'repayment').length, 300)

  await t.test('a second upload and run succeeds and changes nothing', async t => {
    t.match(await migrateCsv(service, 'loans', loansCsv), { done: 40, failed: 0 })
    t.match(await migrateCsv(service, 'repayments', repaymentsCsv), { done: 300, failed: 0 })
    t.same((await booksAt(service.ledger.controlUrl)).loans, books.loans)
    t.same((await booksAt(service.ledger.controlUrl)).transactions, books.transactions)
  })
})
