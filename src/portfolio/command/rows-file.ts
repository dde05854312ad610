import { existsSync } from 'node:fs'
import { open, readFile, rename, stat, utimes } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { crc32 } from 'node:zlib'

/** The rows are client data, so only the file's owner may read them. */
const ROWS_MODE = 0o600

export type RowsFile = 'errors' | 'findings'

/** Where the errors or findings of an uploaded file are saved. */
export const rowsFileOf = (file: string, what: RowsFile) =>
  resolve(file.replace(/(\.csv)?$/i, `.${what}.csv`))

/**
 * Replaces a file at once, and only with all rows. If somebody is correcting the rows of an earlier run in it, it is kept
 * under another name.
 */
export async function saveRowsFile(rows: ReadableStream, file: string, what: RowsFile) {
  const path = rowsFileOf(file, what)
  const part = `${path}.part`
  const handle = await open(part, 'w', ROWS_MODE)
  // A file from an earlier run keeps its mode when it is opened.
  await handle.chmod(ROWS_MODE)
  await pipeline(Readable.fromWeb(rows), handle.createWriteStream())
  const time = Math.floor(Date.now() / 1000) + (await sumOf(part)) / 1e6
  await utimes(part, time, time)
  const kept = await keepChanged(path)
  await rename(part, path)
  return { path, kept }
}

/** @returns the new name of the file if somebody has changed it: the microseconds of its time are no longer the sum of its bytes */
async function keepChanged(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  const { mtime, mtimeNs } = await stat(path, { bigint: true })
  if (Math.round(Number(mtimeNs % 1_000_000_000n) / 1e3) === (await sumOf(path))) return undefined
  const kept = path.replace(/csv$/, `${mtime.toISOString().replaceAll(':', '-')}.csv`)
  await rename(path, kept)
  return kept
}

const sumOf = async (path: string): Promise<number> => crc32(await readFile(path)) % 1e6
