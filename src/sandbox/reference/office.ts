import { notFound } from '../http/refusal.ts'

export const OFFICE_ID = 1
export const OFFICE_NAME = 'Head Office'
export const OFFICE_OPENED = '2009-01-01'

export function refuseUnknownOffice(id: number | undefined): void {
  if (id === OFFICE_ID) return
  throw notFound('error.msg.office.id.invalid', `Office with identifier ${id} does not exist`, id)
}
