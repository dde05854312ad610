import createError from '@fastify/error'
import { Type } from '@sinclair/typebox'
import { TAKE } from '../http/fields/take-values.ts'
import { described } from '../http/fields/text-fields.ts'

const InvalidTrackingId = createError(
  'INVALID_TRACKING_ID',
  'A tracking id has the form <OPERATION>|<uuid>; encode its bar once, as %7C',
  400,
)
export const UnknownTrackingId = createError(
  'UNKNOWN_TRACKING_ID',
  'No operation has this tracking id',
  404,
)

/** The refusals of every route whose path has a tracking id. */
export const TRACKING_REFUSALS = ['INVALID_TRACKING_ID', 'UNKNOWN_TRACKING_ID']

const SHAPE =
  /^([A-Z][A-Z_]{0,39})\|([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/

/** Puts the UUID in lower case, because every id is taken in capitals, too. */
export const withSmallUuid = (text: unknown) =>
  typeof text === 'string' ? text.replace(/(?<![^|])[^|]*$/, uuid => uuid.toLowerCase()) : text

export const TrackingId = Type.Unsafe<string>({
  ...described(
    SHAPE.source,
    'a tracking id: <OPERATION>|<uuid>',
    'LOAN_APPROVE|019a0000-0000-7000-8000-000000000000',
  ),
  [TAKE]: withSmallUuid,
})

export function parseTrackingId(text: string): { operationType: string; id: string } {
  const [, operationType, id] = SHAPE.exec(text) ?? []
  if (operationType === undefined || id === undefined) throw new InvalidTrackingId()
  return { operationType, id }
}

/** A path that the router cannot decode may still name a tracking id, for which the error has a code of its own. */
export function trackingPathRefusal(path: string): Error | undefined {
  return /^\/api\/ledger\/(track|operations)\//.test(path) ? new InvalidTrackingId() : undefined
}
