import type { FastifyRequest } from 'fastify'
import { askerOf } from '../../accounts/access/actor.ts'
import { requireUploader } from '../../accounts/approvals/person.ts'
import { type Asker, audit, auditAlone } from '../../accounts/audit.ts'
import type { Config } from '../../config/config.ts'
import { crashPoint } from '../../crash-point.ts'
import { mayBeRounded, roundedBy } from '../../csv/damaged-ids.ts'
import { MAX_LISTED } from '../../csv/invalid-row.ts'
import type { FileType } from '../../csv/reading/file-type.ts'
import { readUpload, type UploadPlace } from '../../csv/reading/read-upload.ts'
import { afterTaking } from '../../csv/reading/unreadable-file.ts'
import { type Database, inTransaction, type Trx } from '../../database/database.ts'
import { takeFile, type UploadedFile } from '../../http/body/multipart.ts'
import { Conflict } from '../../http/problem.ts'
import {
  type CheckedReference,
  checkReferenceRow,
  REFERENCE_LIMIT,
  referenceFile,
} from './reference-file.ts'
import type { NewReference } from './reference-record.ts'
import { lockAllReferences, saveReferences } from './save-references.ts'

type Context = {
  db: Database
  config: Pick<Config, 'APPROVALS'>
  fileTypes: { portfolio: FileType[]; statements: FileType[] }
}

/**
 * Saves each valid row as a call of its own would, in the order of the file; repeating the upload changes nothing.
 * @throws Conflict where a reference needs approval: a file may be larger than what a proposal can have
 */
export function uploadReferences(context: Context, request: FastifyRequest, templateUrl: string) {
  const { db, config, fileTypes } = context
  if (config.APPROVALS.some(({ act }) => act === 'reference.write'))
    throw new Conflict(
      'A second person must approve each reference, and a file cannot be proposed: register them one by one',
    )
  const others = [...fileTypes.portfolio, ...fileTypes.statements]
  return takeFile(request, [], REFERENCE_LIMIT, file =>
    saveFile(db, { kind: referenceFile, others, templateUrl }, file, askerOf(request)),
  )
}

async function saveFile(db: Database, place: UploadPlace, file: UploadedFile, asker: Asker) {
  const counts = { rows: 0, valid_rows: 0, invalid_rows: 0 }
  const errors: { line: number; reason: string }[] = []
  const entry = { ...asker, subject: file.name ?? 'file' }
  try {
    await readUpload(file.bytes, place, {
      check: checkReferenceRow,
      async save(batch) {
        const refused = await inTransaction(db, async trx => {
          await requireUploader(trx, asker)
          const refused = await saveValid(trx, batch, asker.actor)
          // Audited with the first rows, so that the audit names the uploader even if the process dies.
          if (counts.valid_rows === 0 && refused.length < batch.length)
            await audit(trx, { ...entry, action: 'reference.begin' })
          return refused
        })
        crashPoint('reference.saved')
        counts.rows += batch.length
        counts.valid_rows += batch.length - refused.length
        counts.invalid_rows += refused.length
        errors.push(...refused.slice(0, MAX_LISTED - errors.length))
      },
    })
  } catch (error) {
    throw await afterTaking(error, async () =>
      counts.valid_rows === 0
        ? undefined
        : `The first valid rows (${counts.valid_rows}) are registered. Upload the corrected file as a whole: what is registered already stays as it is`,
    )
  } finally {
    // Rows before an interruption are saved, too.
    if (counts.valid_rows > 0)
      await auditAlone(db, { ...entry, action: 'reference.upload', detail: counts })
  }
  return { ...counts, errors }
}

/** Saves the valid rows. Other changes of references wait for this, some 50 ms. @returns the other rows, in their order */
async function saveValid(trx: Trx, checked: CheckedReference[], actor: string) {
  refuseShared(checked)
  const valid = checked.filter(({ errors }) => errors.length === 0)
  const references = valid.map(({ reference }) => reference)
  await lockAllReferences(trx)
  const outcomes = await saveReferences(trx, references, actor)
  for (const [i, { refusal }] of outcomes.entries())
    if (refusal !== null) valid[i]?.errors.push(refusal)
  return checked.flatMap(({ line, errors }) =>
    errors.length === 0 ? [] : [{ line, reason: errors.join('; ') }],
  )
}

/** Two ids that a spreadsheet rounded become one, and saving the first would give it to a loan that may have neither. */
function refuseShared(rows: CheckedReference[]) {
  const suspect = rows.filter(
    ({ errors, reference }) => errors.length === 0 && mayBeRounded(reference.value),
  )
  const named = Map.groupBy(suspect, ({ reference: { gateway, kind, value } }) =>
    [gateway, kind, value].join(),
  )
  for (const same of named.values())
    for (const { reference, errors } of same)
      if (same.some(other => contradicts(other.reference, reference)))
        errors.push(`value ${roundedBy('another loan has it in this file, too')}`)
}

const contradicts = (a: NewReference, b: NewReference) =>
  a.external_loan_id !== b.external_loan_id && begins(a) <= ends(b) && begins(b) <= ends(a)
const begins = ({ valid_from = '' }: NewReference) => valid_from
const ends = ({ valid_until = '9' }: NewReference) => valid_until
