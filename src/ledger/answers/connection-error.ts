/** The code of a time-out is a number that says nothing to people. */
export function connectionReason({ code, name }: NodeJS.ErrnoException): string {
  return typeof code === 'string' ? code : name
}
