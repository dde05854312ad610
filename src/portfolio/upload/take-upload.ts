import type { FastifyRequest } from 'fastify'
import {
  type FileLimit,
  takeFile,
  type UploadedFile,
  wrongPart,
} from '../../http/body/multipart.ts'
import type { Kinds, ReadyKind } from '../kinds/kinds.ts'

export const UPLOAD_LIMIT: FileLimit = { bytes: 1024 ** 3, text: '1 GiB' }

type Take<T> = (kind: ReadyKind, file: UploadedFile) => Promise<T>

/** @throws FieldErrors, PayloadTooLarge */
export async function takeUpload<T>(
  request: FastifyRequest,
  kinds: Kinds,
  take: Take<T>,
): Promise<T> {
  return takeFile(request, ['type'], UPLOAD_LIMIT, (file, { type }) => {
    const types = [...kinds.keys()].join(' or ')
    if (type === undefined) throw wrongPart('type', `is required before the file: ${types}`)
    const kind = kinds.get(type)
    if (kind === undefined) throw wrongPart('type', `must be ${types}`)
    return take(kind, file)
  })
}
