import { existsSync } from 'node:fs'
import { open, rename, stat, utimes } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'

/** The rows are client data, so only the file's owner may read them. */
const ROWS_MODE = 0o600

export type RowsFile = 'errors' | 'findings'

/** Where the errors or findings of an uploaded file are saved. */
export const rowsFileOf = (file: string, what: RowsFile) =>
  resolve(file.replace(/(\.csv)?$/i, `.${what}.csv`))

/** Replaces a file at once, and only with all rows. Somebody may be correcting the rows of an earlier run in it: it is kept. */
export async function saveRows(rows: ReadableStream, file: string, what: RowsFile) {
  const path = rowsFileOf(file, what)
  const part = `${path}.part`
  const handle = await open(part, 'w', ROWS_MODE)
  // A file from an earlier run keeps its mode when it is opened.
  await handle.chmod(ROWS_MODE)
  await pipeline(Readable.fromWeb(rows), handle.createWriteStream())
  const { mtime } = await stat(file)
  // Later, a newer one shows that somebody has changed it.
  await utimes(part, mtime, mtime)
  const kept = await keepNewer(path, mtime)
  await rename(part, path)
  return { path, kept }
}

/** @returns the new name of the file if it has changed since this time */
async function keepNewer(path: string, since: Date): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  const { mtime } = await stat(path)
  if (mtime <= since) return undefined
  const kept = path.replace(/csv$/, `${mtime.toISOString().replaceAll(':', '-')}.csv`)
  await rename(path, kept)
  return kept
}
