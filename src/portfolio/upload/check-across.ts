import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { MigrationType } from '../kinds/kind.ts'
import { CLIENT_COLUMNS } from '../kinds/loan-kind.ts'

/** Holds the rows of a file against each other, and repayments against the loans that came before. */
export async function checkAcross(trx: Trx, type: MigrationType, id: string): Promise<void> {
  const rules =
    type === 'loans'
      ? [loanTwice(id), clientOtherwise(id), mobileOfTwo(id)]
      : [receiptTwice(id), paymentTwice(id), beforeDisbursement(id)]
  await sql`
    with broken as (
      select line, string_agg(distinct sentence, '; ' order by sentence) as sentences
        from (${sql.join(rules, sql` union all `)}) as rule (line, sentence)
       group by line
    )
    update loanops.migration_row r
       set state = 'invalid', reason = concat_ws('; ', r.reason, broken.sentences)
      from broken
     where r.migration_id = ${id} and r.line = broken.line`.execute(trx)
}

type Rule = RawBuilder<unknown>

const loanTwice = (id: string) => twice(id, sql`loan_external_id`, 'loan_external_id: this loan')

/** Grouped first: of a million rows hardly any is left to be sorted. */
const twice = (id: string, columns: RawBuilder<unknown>, subject: string): Rule => sql`
  select line, ${subject} || ' stands in line ' || other || ' too'
    from (select line, coalesce(lag(line) over same, lead(line) over same) as other
            from loanops.migration_row
            join (select ${columns} from loanops.migration_row
                   where migration_id = ${id} and (${columns}) is not null
                   group by ${columns} having count(*) > 1) repeated using (${columns})
           where migration_id = ${id}
          window same as (partition by ${columns} order by line)) twice`

const clientOtherwise = (id: string): Rule => sql`
  select u.line,
         (select string_agg(name, ', ') from unnest(${CLIENT_COLUMNS}::text[], u.said, other.client_fields)
                   as t (name, ours, theirs) where ours is distinct from theirs)
           || ': this client is described otherwise in line ' || other.line
    from (${unlike(id, sql`client_external_id`, sql`client_fields`)}) u
    join loanops.migration_row other on other.migration_id = ${id} and other.line = u.other`

const mobileOfTwo = (id: string): Rule => sql`
  select line, 'client_mobile_no: another client has this number, in line ' || other
    from (${unlike(id, sql`client_fields[3]`, sql`client_external_id`)}) unlike`

/**
 * The rows that share something and do not all say the same: the first one beside the first that says otherwise, every
 * other beside the first one that differs from it. Each row is looked at a fixed number of times: a placeholder may
 * stand in all of them.
 */
const unlike = (id: string, shared: RawBuilder<unknown>, said: RawBuilder<unknown>) => sql`
  select line, said, case when said = first_said then first_other else first_line end as other
    from (select line, said, first_said, first_line,
                 min(line) filter (where said <> first_said) over (partition by shared) as first_other
            from (select line, shared, said,
                         first_value(said) over same as first_said, first_value(line) over same as first_line
                    from (select line, ${shared} as shared, ${said} as said
                            from loanops.migration_row where migration_id = ${id}) r
                    join (select ${shared} as shared
                            from loanops.migration_row
                           where migration_id = ${id} and ${shared} is not null
                           group by 1 having count(distinct ${said}) > 1) several using (shared)
                   where said is not null
                  window same as (partition by shared order by line)) ordered) paired`

const THIS_PAYMENT = 'payment_reference: this payment'
const receiptTwice = (id: string) => twice(id, sql`loan_external_id, receipt_number`, THIS_PAYMENT)
const paymentTwice = (id: string) => twice(id, sql`payment_key`, THIS_PAYMENT)

/** Only where a file of ours brings or brought the loan; of another the ledger itself knows. */
const beforeDisbursement = (id: string): Rule => sql`
  select r.line,
         case when loan.disbursed_on is null
           then 'loan_external_id: the loan is not disbursed, says line ' || loan.line || ' of its loans file'
           else 'transaction_date: the loan was disbursed later, on ' || loan.disbursed_on
         end
    from (select distinct on (l.loan_external_id) l.loan_external_id, l.disbursed_on, l.line
            from loanops.migration m
            join loanops.migration_row l on l.migration_id = m.id
           where m.type = 'loans' and l.state in ('running', 'done')
             and exists (select from loanops.migration_row named
                          where named.migration_id = ${id} and named.loan_external_id = l.loan_external_id)
           order by l.loan_external_id, m.uploaded_at desc) loan
    join loanops.migration_row r on r.migration_id = ${id} and r.loan_external_id = loan.loan_external_id
   where loan.disbursed_on > r.on_date
      or loan.disbursed_on is null
         and not exists (select from loanops.operation o
                          where o.external_id = r.loan_external_id and o.operation_type = 'LOAN_DISBURSE'
                            and o.status = 'success')`
