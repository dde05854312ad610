import { CompiledQuery } from 'kysely'
import type { Database } from '../../database/database.ts'

/** Makes rate-limiter-flexible use our own table and pool. */
export function attemptStore(db: Database) {
  return {
    storeClient: queryable(db),
    storeType: 'pool',
    schemaName: 'loanops',
    tableName: 'login_attempt',
    tableCreated: true,
  }
}

function queryable(db: Database) {
  return {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows, numAffectedRows } = await db.executeQuery(CompiledQuery.raw(text, values))
      return { rows, rowCount: Number(numAffectedRows ?? rows.length) }
    },
  }
}
