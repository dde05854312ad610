/** For what the ledger compares by LIKE. */
export const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&')
