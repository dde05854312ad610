import type { Selectable } from 'kysely'
import type { DB } from './database.types.ts'

/** These columns of a table, as a statement returns them. */
export type Row<Table extends keyof DB, Column extends keyof Selectable<DB[Table]>> = Pick<
  Selectable<DB[Table]>,
  Column
>
