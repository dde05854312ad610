/** An escape, after any number of escaped backslashes, of what PostgreSQL's text cannot hold: NUL and half a character. */
const UNKEEPABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** JSON for PostgreSQL: what the ledger sends must never keep an operation from its end. */
export function keepableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNKEEPABLE, '$1\\ufffd')
}
