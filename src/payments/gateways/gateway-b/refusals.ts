import type { GatewayRefused } from '../items/gateway-errors.ts'

/** The gateway refuses an id that cannot be its own, which also means that it has no such thing. */
export const isAbsent = ({ status, code, isAboutId }: GatewayRefused) =>
  (status === 404 && isAboutId) || code?.endsWith('_id_invalid') === true

/** Whether a refusal is about what was asked, rather than about the credentials or something temporary. */
export const isLasting = ({ status, code }: GatewayRefused) =>
  status !== 401 && code !== 'internal_processing_error'
