/** An escape, after any number of escaped backslashes, of what PostgreSQL cannot store as text: NUL and lone surrogates. */
const UNKEEPABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** JSON that PostgreSQL can store: whatever the ledger sends, the operation must be able to end. */
export function keepableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNKEEPABLE, '$1\\ufffd')
}
