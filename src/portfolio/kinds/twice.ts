import { type RawBuilder, sql } from 'kysely'
import type { Rule } from './kind.ts'

/** The rows whose value comes twice. The query groups first, so that hardly any of a million rows is left to sort. */
export const twice =
  (columns: RawBuilder<unknown>, subject: string): Rule =>
  id =>
    sql`
  select line, ${subject} || ' is also in line ' || other
    from (select line, coalesce(lag(line) over same, lead(line) over same) as other
            from loanops.migration_row
            join (select ${columns} from loanops.migration_row
                   where migration_id = ${id} and (${columns}) is not null
                   group by ${columns} having count(*) > 1) repeated using (${columns})
           where migration_id = ${id}
          window same as (partition by ${columns} order by line)) twice`
