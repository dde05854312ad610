import { sql } from 'kysely'
import type { Trx } from '../../database/database.ts'
import type { Rule } from '../kinds/kind.ts'

export async function checkAcross(trx: Trx, rules: Rule[], id: string): Promise<void> {
  if (rules.length === 0) return
  const breaches = rules.map(rule => rule(id))
  await sql`
    with broken as (
      select line, string_agg(distinct sentence, '; ' order by sentence) as sentences
        from (${sql.join(breaches, sql` union all `)}) as rule (line, sentence)
       group by line
    )
    update loanops.migration_row r
       set state = 'invalid', reason = concat_ws('; ', r.reason, broken.sentences)
      from broken
     where r.migration_id = ${id} and r.line = broken.line`.execute(trx)
}
