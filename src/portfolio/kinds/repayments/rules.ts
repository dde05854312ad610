import { sql } from 'kysely'
import type { Rule } from '../kind.ts'
import { twice } from '../twice.ts'

const THIS_PAYMENT = 'payment_reference: this payment'
const receiptTwice = twice(sql`loan_external_id, receipt_number`, THIS_PAYMENT)
const paymentTwice = twice(sql`payment_key`, THIS_PAYMENT)

/** A dry run holds the rows of a loan in memory, and one transaction stops those after a row that fails. */
const MAX_ROWS_OF_LOAN = 10_000

const tooManyOfLoan: Rule = id => sql`
  select line, ${`loan_external_id: more than ${MAX_ROWS_OF_LOAN} rows name this loan`}::text
    from loanops.migration_row
    join (select loan_external_id from loanops.migration_row
           where migration_id = ${id}
           group by loan_external_id having count(*) > ${MAX_ROWS_OF_LOAN}) large using (loan_external_id)
   where migration_id = ${id}`

/** Any loan that no file of ours disburses may have been disbursed without us. */
const beforeDisbursement: Rule = id => sql`
  select r.line, 'transaction_date: the loan was disbursed later, on ' || loan.disbursed_on
    from (select distinct on (l.loan_external_id) l.loan_external_id, l.disbursed_on
            from loanops.migration m
            join loanops.migration_row l on l.migration_id = m.id
           where m.type = 'loans' and l.state in ('running', 'done')
             and exists (select from loanops.migration_row named
                          where named.migration_id = ${id} and named.loan_external_id = l.loan_external_id)
           order by l.loan_external_id, m.uploaded_at desc) loan
    join loanops.migration_row r on r.migration_id = ${id} and r.loan_external_id = loan.loan_external_id
   where loan.disbursed_on > r.on_date`

export const repaymentRules: Rule[] = [
  receiptTwice,
  paymentTwice,
  tooManyOfLoan,
  beforeDisbursement,
]
