import type { FastifyBaseLogger } from 'fastify'
import type { Database } from '../../database/database.ts'
import { deleteRows } from '../delete-rows.ts'

/** Deletes rows in the background, because those of a large file take minutes. */
export function backgroundDeletion(db: Database, log: FastifyBaseLogger) {
  const stopping = new AbortController()
  let deletions = Promise.resolve()

  return {
    add(id: string) {
      deletions = deletions
        .then(() => deleteRows(db, id, stopping.signal))
        .catch(error =>
          log.error(
            { err: error, migration: id },
            'deleting the rows of a discarded migration failed',
          ),
        )
    },
    async stop() {
      stopping.abort()
      await deletions
    },
  }
}
