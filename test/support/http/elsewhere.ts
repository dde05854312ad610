/** The setting of services that many refused calls are sent to: those of one address would be answered late. */
export const BEHIND_PROXY = { TRUST_PROXY: '127.0.0.1' }

let calls = 0

/** The header of a call that came to the proxy from an address of its own. */
export function elsewhere(): { 'x-forwarded-for': string } {
  calls++
  return { 'x-forwarded-for': `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}` }
}
