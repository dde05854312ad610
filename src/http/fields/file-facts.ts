import { Type } from '@sinclair/typebox'
import { nullable } from './schemas.ts'

/** The members that tell one uploaded file from another; null for files that were uploaded before LoanOps kept them. */
export const fileFields = {
  file_name: nullable(Type.String({ description: 'as the uploader named it' })),
  file_sha256: nullable(Type.String({ description: 'of its bytes, in hexadecimal' })),
  same_as: nullable(
    Type.String({ description: 'the id of the last earlier upload of the same bytes' }),
  ),
}
