import { type RawBuilder, sql } from 'kysely'
import type { Rule } from '../kind.ts'
import { lostZeros } from '../lost-zeros.ts'
import { twice } from '../twice.ts'
import { CLIENT_COLUMNS } from './steps.ts'

const loanTwice = twice(sql`loan_external_id`, 'loan_external_id: this loan')

const conflictingClient: Rule = id => sql`
  select u.line,
         (select string_agg(name, ', ') from unnest(${CLIENT_COLUMNS}::text[], u.said, other.client_fields)
                   as t (name, ours, theirs) where ours is distinct from theirs)
           || ': line ' || other.line || ' has different data for this client'
    from (${unlike(id, sql`client_external_id`, sql`client_fields`)}) u
    join loanops.migration_row other on other.migration_id = ${id} and other.line = u.other`

const mobileNumber = sql`client_fields[${sql.lit(CLIENT_COLUMNS.indexOf('client_mobile_no') + 1)}]`

const sharedMobileNumber: Rule = id => sql`
  select line, 'client_mobile_no: line ' || other || ' has this number for another client'
    from (${unlike(id, mobileNumber, sql`client_external_id`)}) unlike`

/** This rule handles each row a fixed number of times, because every row may have the same placeholder. */
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

export const loanRules: Rule[] = [
  loanTwice,
  conflictingClient,
  sharedMobileNumber,
  lostZeros('client'),
  lostZeros('loan'),
]
