import { openDatabase } from '../../src/database/database.ts'

/** Filling ten million rows may take one statement. */
const STATEMENT_MS = 3_600_000

/** The bench's own connections, for what it fills and reads beside the service. */
export const openBenchDatabase = (url: string) =>
  openDatabase(url, { max: 4, name: 'bench', statementMs: STATEMENT_MS, onError: console.error })
