import { nullableText } from './schemas.ts'

/** The members that tell one uploaded file from another; null for files that were uploaded before LoanOps kept them. */
export const fileFields = {
  file_name: nullableText('as the uploader named it'),
  file_sha256: nullableText('of its bytes, in hexadecimal'),
  same_as: nullableText('the id of the last earlier upload of the same bytes'),
}
