/** An escaped NUL or lone surrogate, after any number of escaped backslashes. */
const UNKEEPABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** Whatever the ledger sends, the operation must be able to end. */
export function keepableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNKEEPABLE, '$1\\ufffd')
}
