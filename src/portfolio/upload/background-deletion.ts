import type { FastifyBaseLogger } from 'fastify'
import type { Database } from '../../database/database.ts'
import { deleteRows } from './delete-rows.ts'

/** Deletes the rows of discarded migrations behind the answers, which do not wait for it: a large file takes minutes. */
export function backgroundDeletion(db: Database, log: FastifyBaseLogger) {
  const stopping = new AbortController()
  let deletions = Promise.resolve()

  return {
    /** One migration after the other. */
    add(id: string) {
      deletions = deletions
        .then(() => deleteRows(db, id, stopping.signal))
        .catch(error => log.error({ err: error, migration: id }, 'rows are not deleted'))
    },
    /** What is left is the sweep's. */
    async stop() {
      stopping.abort()
      await deletions
    },
  }
}
