/** Escapes a text that the ledger compares by LIKE. */
export const escapeLike = (text: string) => text.replace(/[\\%_]/g, '\\$&')
