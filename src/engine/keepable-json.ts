/** An escape, after any number of escaped backslashes, of what PostgreSQL's text cannot hold: NUL and lone surrogates. */
const UNKEEPABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** JSON that PostgreSQL can store: nothing that the ledger sends may keep an operation from ending. */
export function keepableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNKEEPABLE, '$1\\ufffd')
}
