import { createReadStream, existsSync, openAsBlob, readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { ReadableStream } from 'node:stream/web'
import { Agent, FormData, fetch, type RequestInit, type Response } from 'undici'
import { readClientSettings } from '../../config/config.ts'
import { decode } from '../../csv/reading/decode.ts'
import { plainName } from '../../csv/reading/header.ts'
import { readHeader } from '../../csv/reading/read-csv.ts'
import { UnreadableFile } from '../../csv/reading/unreadable-file.ts'
import { retry } from '../../database/retry.ts'
import { onOneLine } from '../../text/on-one-line.ts'
import type { RowKind } from '../kinds/kind.ts'
import { kinds, rankOf } from '../kinds/kinds.ts'
import type { MigrationRecord } from '../migration-record.ts'
import { showProgress } from './progress.ts'
import { type RowsFile, rowsFileOf, saveRowsFile } from './rows-file.ts'

type RunOptions = { isDryRun: boolean; skipInvalid: boolean }

const TOKEN_FILE = '.data/internal-token'

/** The service takes less time to check the rows of a 1 GiB file against each other. */
const PATIENCE_MS = 20 * 60_000

/** A restart of the service, or of what is in front of it, takes less time. The run goes on meanwhile. */
const OUTAGE_MS = 5 * 60_000
const ASK_AGAIN_MS = 1_000

const UNOPENED: Record<string, string> = {
  ENOENT: 'There is no file',
  EISDIR: 'This is a folder, name the files in it:',
  EACCES: 'This user may not read',
}

const USAGE = 'npm run migrate-portfolio -- [--dry-run] [--skip-invalid] loans.csv repayments.csv'

/**
 * Migrates files, and stops at the first failure, because the next files depend on it.
 * @throws Error with a message for the user
 */
export async function migratePortfolio(
  env: NodeJS.ProcessEnv,
  files: string[],
  options: RunOptions,
): Promise<void> {
  if (files.length === 0) throw new Error(`Name at least one file: ${USAGE}`)
  for (const file of files)
    if (files.some(one => rowsFileOf(one, 'errors') === resolve(file)))
      throw new Error(
        `${file} is where another file's errors are saved: rename it, or migrate it alone`,
      )
  const call = caller(env)
  const typed = await Promise.all(files.map(async file => ({ file, type: await typeOf(file) })))
  // Files that others depend on go first, in whatever order they were named.
  const before: string[] = []
  for (const { file, type } of typed.sort((a, b) => rankOf(a.type) - rankOf(b.type)))
    before.push(await migrateFile(call, { file, type, before }, options))
}

type Next = { file: string; type: string; before: string[] }

/** @returns the migration's id */
async function migrateFile(call: Call, { file, type, before }: Next, options: RunOptions) {
  const form = new FormData()
  form.set('type', type)
  form.set('file', await openAsBlob(file), basename(file))
  say(`${file}: uploading ${type}`)
  const uploaded = await call.json<MigrationRecord>('POST', '/migration/upload', form)
  const { migration_id: id, rows, invalid_rows, same_as = null } = uploaded
  say(`${file}: ${rows} rows, ${invalid_rows} of them invalid (migration ${id})`)
  if (same_as !== null) say(`${file}: the same bytes were uploaded before, as migration ${same_as}`)
  if (invalid_rows > 0) {
    const path = await save(call, id, file, 'errors')
    if (!options.skipInvalid)
      throw new Error(
        `Correct the rows in ${path} and upload it, or leave them out with --skip-invalid`,
      )
    say(
      `${file}: ${invalid_rows} invalid rows are left out because of --skip-invalid: ${path} has them`,
    )
  }
  const started = call.json('POST', '/migration/run', {
    migration_id: id,
    dry_run: options.isDryRun,
    skip_invalid: options.skipInvalid,
    ...(options.isDryRun ? { after: before } : {}),
  })
  await started.catch(error => {
    throw error instanceof TryAgainLater ? goesOn(error, id) : error
  })
  const ended = await showProgress(() =>
    retry(() => call.json<MigrationRecord>('GET', `/migration/${id}`), {
      withinMs: OUTAGE_MS,
      everyMs: ASK_AGAIN_MS,
      mayPass: error => error instanceof TryAgainLater,
    }),
  ).catch(error => {
    throw goesOn(error, id)
  })
  if (options.isDryRun) await reportDryRun(call, file, ended)
  else await reportRun(call, file, ended)
  return id
}

const goesOn = (error: Error, id: string) =>
  new Error(
    `If migration ${id} has begun to run, it continues; you may repeat this command. ${error.message}`,
    { cause: error },
  )

async function reportDryRun(call: Call, file: string, ended: MigrationRecord) {
  const { migration_id: id, dry_run, invalid_rows } = ended
  if (dry_run === null) throw new Error(`${file}: the dry run was cancelled`)
  const { would_change, in_ledger, differs, refused, unknown } = dry_run
  say(
    `${file}: ${would_change} rows would be written, ${in_ledger} are already in the ledger, ${differs} differ from it, ${refused} would be refused, ${unknown} could not be checked`,
  )
  for (const { line, reason } of dry_run.findings) say(`  line ${line}: ${reason}`)
  const found = differs + refused + unknown
  if (found > dry_run.findings.length)
    say(`  ${found} findings in all: ${await save(call, id, file, 'findings')} lists them all`)
  const notTaken = invalid_rows + found
  if (notTaken > 0)
    throw new Error(
      `${file}: rows that are invalid, differ, would be refused or could not be checked: ${notTaken}`,
    )
}

async function reportRun(call: Call, file: string, ended: MigrationRecord) {
  const { migration_id: id, status, done, failed, stopped, valid_rows } = ended
  say(`${file}: ${status}, ${done} done, ${failed} failed, ${stopped} stopped`)
  if (failed + stopped > 0)
    throw new Error(
      `${file}: the run is ${status}; the rows that failed are in ${await save(call, id, file, 'errors')}`,
    )
  if (status !== 'completed')
    throw new Error(
      `${file}: the run is ${status}, and ${valid_rows - done} rows remain; POST /api/migration/${id}/retry processes them`,
    )
}

type Call = ReturnType<typeof caller>

/** A later call may be answered. */
class TryAgainLater extends Error {}

function caller(env: NodeJS.ProcessEnv) {
  const { url, token = savedToken() } = readClientSettings(env)
  const base = `${url.replace(/\/+$/, '')}/api`
  const headers = { 'x-internal-token': token }
  // By default, undici ends a call after five minutes.
  const dispatcher = new Agent({ headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS })

  return {
    async json<T>(method: string, path: string, body?: FormData | object) {
      const isForm = body instanceof FormData
      const response = await request(path, {
        method,
        headers: isForm || !body ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
      })
      return (await response.json()) as T
    },
    file: async (path: string) => (await request(path, { headers })).body as ReadableStream,
  }

  async function request(path: string, init: RequestInit): Promise<Response> {
    // A redirect would be followed with the token, and with GET in place of POST.
    const sent = fetch(base + path, { ...init, dispatcher, redirect: 'manual' })
    const response = await sent.catch(error => {
      throw new TryAgainLater(
        `${base} does not answer (${error.cause?.code ?? error.message}): is the service running?`,
        { cause: error },
      )
    })
    if (response.ok) return response
    const { status, headers } = response
    if (headers.has('location'))
      throw new Error(`${base} redirects to ${headers.get('location')}: correct LOANOPS_URL`)
    const problem = (await response.json().catch(() => ({}))) as { detail?: string }
    const detail = onOneLine(problem.detail ?? `${base}${path} answered ${status}`)
    throw status === 429 || status >= 500 ? new TryAgainLater(detail) : new Error(detail)
  }
}

function savedToken(): string {
  if (existsSync(TOKEN_FILE)) return readFileSync(TOKEN_FILE, 'utf8').trim()
  throw new Error('INTERNAL_TOKEN is not set, and "npm start" has not been run in this folder')
}

/** The type with which the header has the most columns in common; the service says what is wrong with the others. */
async function typeOf(file: string): Promise<string> {
  if (statSync(file, { throwIfNoEntry: false })?.isFIFO())
    throw new Error(`${file} is a pipe, which cannot be read twice: name a file`)
  const stream = createReadStream(file)
  try {
    const header = (await readHeader(decode(stream))).map(plainName)
    const common = ({ columns }: RowKind) => columns.filter(({ name }) => header.includes(name))
    const [likeliest] = kinds.toSorted((a, b) => common(b).length - common(a).length)
    return (likeliest as RowKind).type
  } catch (error) {
    if (error instanceof UnreadableFile) throw new Error(`${file}: ${error.message}`)
    const { code = '' } = error as NodeJS.ErrnoException
    throw code in UNOPENED ? new Error(`${UNOPENED[code]} ${file}`, { cause: error }) : error
  } finally {
    stream.destroy()
  }
}

async function save(call: Call, id: string, file: string, what: RowsFile): Promise<string> {
  const rows = await call.file(`/migration/${id}/${what}.csv`)
  const saved = saveRowsFile(rows, file, what)
  const { path, kept } = await saved.catch(error => {
    throw new Error(`${file}: its ${what} could not be saved: ${error.message}`, { cause: error })
  })
  if (kept !== undefined) say(`${path} has changed since it was saved, and is now ${kept}`)
  return path
}

function say(line: string) {
  process.stdout.write(`${onOneLine(line)}\n`)
}
